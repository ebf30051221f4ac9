(* tak.scm in Standard ML of New Jersey; the image goes to the file that IMAGE names. *)
fun tak (x, y, z) = if y < x then tak (tak (x - 1, y, z), tak (y - 1, z, x), tak (z - 1, x, y)) else z

fun main (_, arguments) =
  let
    val times = case arguments of a :: _ => valOf (Int.fromString a) | [] => 4
    fun loop (i, sum) = if i < times then loop (i + 1, sum + tak (15 + i mod 4, 12, 6)) else print (Int.toString sum ^ "\n")
  in
    loop (0, 0); OS.Process.success
  end

val () = SMLofNJ.exportFn (valOf (OS.Process.getEnv "IMAGE"), main)
