(* Particles that fall in a box and bounce off its walls: particles.scm in OCaml, an array of records of floats. *)
type particle = {
  mutable x : float; mutable y : float; mutable z : float;
  mutable vx : float; mutable vy : float; mutable vz : float;
}

let seed = ref 42
let next_random () =
  seed := !seed * 16807 mod 2147483647;
  float_of_int !seed /. 2147483647.

let dt = 0.001
let gravity = 9.81

let step p =
  let x = p.x +. dt *. p.vx in
  if x < 0. then (p.x <- -. x; p.vx <- -. p.vx)
  else if x > 1. then (p.x <- 2. -. x; p.vx <- -. p.vx)
  else p.x <- x;
  let y = p.y +. dt *. p.vy in
  if y < 0. then (p.y <- -. y; p.vy <- -. p.vy)
  else if y > 1. then (p.y <- 2. -. y; p.vy <- -. p.vy)
  else p.y <- y;
  let vz = p.vz -. dt *. gravity in
  let z = p.z +. dt *. vz in
  if z < 0. then (p.z <- -. z; p.vz <- -. vz)
  else if z > 1. then (p.z <- 2. -. z; p.vz <- -. vz)
  else (p.z <- z; p.vz <- vz)

let energy sum p =
  sum +. (0.5 *. (p.vx *. p.vx +. p.vy *. p.vy +. p.vz *. p.vz) +. gravity *. p.z)

let () =
  let argument i otherwise = if Array.length Sys.argv > i then int_of_string Sys.argv.(i) else otherwise in
  let n = argument 1 1000 and steps = argument 2 20 in
  let v = Array.init n (fun _ ->
    let x = next_random () in let y = next_random () in let z = next_random () in
    let vx = next_random () -. 0.5 in let vy = next_random () -. 0.5 in let vz = next_random () -. 0.5 in
    { x; y; z; vx; vy; vz }) in
  for _ = 1 to steps do Array.iter step v done;
  Printf.printf "%.0f\n" (Float.round (1000. *. Array.fold_left energy 0. v))
