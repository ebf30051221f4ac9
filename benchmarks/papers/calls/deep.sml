(* deep.scm in Standard ML of New Jersey; the image goes to the file that IMAGE names. *)
fun build n = if n = 0 then [] else 1 :: build (n - 1)
fun sumOf [] = 0 | sumOf (x :: rest) = x + sumOf rest

fun main (_, arguments) =
  let
    val times = case arguments of a :: _ => valOf (Int.fromString a) | [] => 2
    fun loop (i, sum) = if i < times then loop (i + 1, sum + sumOf (build (100000 + i))) else print (Int.toString sum ^ "\n")
  in
    loop (0, 0); OS.Process.success
  end

val () = SMLofNJ.exportFn (valOf (OS.Process.getEnv "IMAGE"), main)
