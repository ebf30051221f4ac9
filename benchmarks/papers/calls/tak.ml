(* tak.scm in OCaml. *)
let rec tak x y z = if y < x then tak (tak (x - 1) y z) (tak (y - 1) z x) (tak (z - 1) x y) else z

let () =
  let times = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 4 in
  let rec loop i sum = if i < times then loop (i + 1) (sum + tak (15 + i mod 4) 12 6) else Printf.printf "%d\n" sum in
  loop 0 0
