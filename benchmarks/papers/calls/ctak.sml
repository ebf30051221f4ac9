(* ctak.scm in Standard ML of New Jersey; the image goes to the file that IMAGE names. *)
open SMLofNJ.Cont
fun ctak (x, y, z) = callcc (fn k => ctakTo (k, x, y, z))
and ctakTo (k, x, y, z) =
  if y < x then
    callcc (fn k =>
      ctakTo (k, callcc (fn k => ctakTo (k, x - 1, y, z)), callcc (fn k => ctakTo (k, y - 1, z, x)),
              callcc (fn k => ctakTo (k, z - 1, x, y))))
  else throw k z

fun main (_, arguments) =
  let
    val times = case arguments of a :: _ => valOf (Int.fromString a) | [] => 4
    fun loop (i, sum) = if i < times then loop (i + 1, sum + ctak (10 + i mod 4, 8, 3)) else print (Int.toString sum ^ "\n")
  in
    loop (0, 0); OS.Process.success
  end

val () = SMLofNJ.exportFn (valOf (OS.Process.getEnv "IMAGE"), main)
