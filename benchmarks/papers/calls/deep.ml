(* deep.scm in OCaml. *)
let rec build n = if n = 0 then [] else 1 :: build (n - 1)
let rec sum_of l = match l with [] -> 0 | x :: rest -> x + sum_of rest

let () =
  let times = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 2 in
  let rec loop i sum = if i < times then loop (i + 1) (sum + sum_of (build (100000 + i))) else Printf.printf "%d\n" sum in
  loop 0 0
