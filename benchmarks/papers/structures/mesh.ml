(* A mesh of triangles that know their neighbours, smoothed and walked: mesh.scm in OCaml, records that refer to one
   another. *)
type node = {
  mutable x : float; mutable y : float; mutable z : float;
  mutable sx : float; mutable sy : float; mutable sz : float; mutable count : float;
}
type face = {
  a : node; b : node; c : node;
  mutable l : face option; mutable m : face option; mutable n : face option;
  mutable mark : int;
}

let seed = ref 42
let next_random () =
  seed := !seed * 16807 mod 2147483647;
  float_of_int !seed /. 2147483647.

let build w =
  let cells = w - 1 in
  let across = 2 * cells in
  let nodes = Array.init (w * w) (fun k ->
    { x = float_of_int (k mod w); y = float_of_int (k / w); z = next_random ();
      sx = 0.; sy = 0.; sz = 0.; count = 0. }) in
  let faces = Array.init (cells * across) (fun t ->
    let j = t / across and i = t mod across / 2 in
    let v = j * w + i in
    let a, b, c = if t land 1 = 0 then v, v + 1, v + w else v + 1, v + w + 1, v + w in
    { a = nodes.(a); b = nodes.(b); c = nodes.(c); l = None; m = None; n = None; mark = 0 }) in
  Array.iteri (fun t f ->
    let j = t / across and i = t mod across / 2 in
    let at ok t = if ok then Some faces.(t) else None in
    if t land 1 = 0 then begin
      f.l <- at true (t + 1); f.m <- at (i > 0) (t - 1); f.n <- at (j > 0) (t - across + 1)
    end else begin
      f.l <- at true (t - 1); f.m <- at (i < cells - 1) (t + 1); f.n <- at (j < cells - 1) (t - 1 + across)
    end) faces;
  nodes, faces

let add_both p q r =
  p.sx <- p.sx +. (q.x +. r.x);
  p.sy <- p.sy +. (q.y +. r.y);
  p.sz <- p.sz +. (q.z +. r.z);
  p.count <- p.count +. 2.

let smooth nodes faces =
  Array.iter (fun { a; b; c; _ } -> add_both a b c; add_both b a c; add_both c a b) faces;
  Array.iter (fun p ->
    p.x <- p.x +. 0.5 *. (p.sx /. p.count -. p.x);
    p.y <- p.y +. 0.5 *. (p.sy /. p.count -. p.y);
    p.z <- p.z +. 0.5 *. (p.sz /. p.count -. p.z);
    p.sx <- 0.; p.sy <- 0.; p.sz <- 0.; p.count <- 0.) nodes

let visit face k opened =
  match face with
  | Some f when f.mark <> k -> f.mark <- k; f :: opened
  | _ -> opened

let walk faces k =
  let rec loop opened reached =
    match opened with
    | [] -> reached
    | f :: rest -> loop (visit f.l k (visit f.m k (visit f.n k rest))) (reached + 1) in
  loop (visit (Some faces.(0)) k []) 0

let () =
  let argument i otherwise = if Array.length Sys.argv > i then int_of_string Sys.argv.(i) else otherwise in
  let w = argument 1 20 and times = argument 2 5 in
  let nodes, faces = build w in
  let reached = ref 0 in
  for k = 1 to times do
    smooth nodes faces;
    reached := !reached + walk faces k
  done;
  let height = Array.fold_left (fun sum p -> sum +. p.z) 0. nodes in
  Printf.printf "%d %.0f\n" !reached (Float.round (1000. *. height))
