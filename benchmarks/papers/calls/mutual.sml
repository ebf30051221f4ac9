(* mutual.scm in Standard ML of New Jersey; the image goes to the file that IMAGE names. *)
fun female n = if n = 0 then 1 else n - male (female (n - 1))
and male n = if n = 0 then 0 else n - female (male (n - 1))

fun main (_, arguments) =
  let
    val times = case arguments of a :: _ => valOf (Int.fromString a) | [] => 20
    fun loop (i, sum) = if i < times then loop (i + 1, sum + female (20 + i mod 16)) else print (Int.toString sum ^ "\n")
  in
    loop (0, 0); OS.Process.success
  end

val () = SMLofNJ.exportFn (valOf (OS.Process.getEnv "IMAGE"), main)
