(* ack.scm in Standard ML of New Jersey; the image goes to the file that IMAGE names. *)
fun ack (m, n) = if m = 0 then n + 1 else if n = 0 then ack (m - 1, 1) else ack (m - 1, ack (m, n - 1))

fun main (_, arguments) =
  let
    val times = case arguments of a :: _ => valOf (Int.fromString a) | [] => 4
    fun loop (i, sum) = if i < times then loop (i + 1, sum + ack (2, 120 + i mod 7)) else print (Int.toString sum ^ "\n")
  in
    loop (0, 0); OS.Process.success
  end

val () = SMLofNJ.exportFn (valOf (OS.Process.getEnv "IMAGE"), main)
