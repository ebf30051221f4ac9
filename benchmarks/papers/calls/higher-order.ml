(* higher-order.scm in OCaml. *)
let rec each f l = match l with [] -> [] | x :: rest -> let head = f x in head :: each f rest
let rec fold_right f last l = match l with [] -> last | x :: rest -> f x (fold_right f last rest)
let compose f g = fun x -> f (g x)
let rec iterate n f = if n = 0 then fun x -> x else compose f (iterate (n - 1) f)
let rec numbers n = if n = 0 then [] else n :: numbers (n - 1)
let steps = [(fun x -> x + 1); iterate 5 (fun x -> x - 1); iterate 3 (compose (fun x -> x * 2) (fun x -> x - 3))]
let l = numbers 400

let () =
  let times = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 10 in
  let rec loop i sum = if i < times then loop (i + 1) ((sum + fold_right (fun f rest -> fold_right (+) 0 (each f l) + rest) i steps) mod 1000003) else Printf.printf "%d\n" sum in
  loop 0 0
