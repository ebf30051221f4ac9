(* mutual.scm in OCaml. *)
let rec female n = if n = 0 then 1 else n - male (female (n - 1))
and male n = if n = 0 then 0 else n - female (male (n - 1))

let () =
  let times = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 20 in
  let rec loop i sum = if i < times then loop (i + 1) (sum + female (20 + i mod 16)) else Printf.printf "%d\n" sum in
  loop 0 0
