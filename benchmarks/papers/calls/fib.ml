(* fib.scm in OCaml. *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let () =
  let times = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 4 in
  let rec loop i sum = if i < times then loop (i + 1) (sum + fib (21 + i mod 3)) else Printf.printf "%d\n" sum in
  loop 0 0
