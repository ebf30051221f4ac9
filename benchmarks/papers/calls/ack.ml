(* ack.scm in OCaml. *)
let rec ack m n = if m = 0 then n + 1 else if n = 0 then ack (m - 1) 1 else ack (m - 1) (ack m (n - 1))

let () =
  let times = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 4 in
  let rec loop i sum = if i < times then loop (i + 1) (sum + ack 2 (120 + i mod 7)) else Printf.printf "%d\n" sum in
  loop 0 0
