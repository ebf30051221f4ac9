(* fib.scm in Standard ML of New Jersey; the image goes to the file that IMAGE names. *)
fun fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

fun main (_, arguments) =
  let
    val times = case arguments of a :: _ => valOf (Int.fromString a) | [] => 4
    fun loop (i, sum) = if i < times then loop (i + 1, sum + fib (21 + i mod 3)) else print (Int.toString sum ^ "\n")
  in
    loop (0, 0); OS.Process.success
  end

val () = SMLofNJ.exportFn (valOf (OS.Process.getEnv "IMAGE"), main)
