(* higher-order.scm in Standard ML of New Jersey; the image goes to the file that IMAGE names. *)
fun each f [] = [] | each f (x :: rest) = let val head = f x in head :: each f rest end
fun foldRight f last [] = last | foldRight f last (x :: rest) = f (x, foldRight f last rest)
fun compose f g = fn x => f (g x)
fun iterate 0 f = (fn x => x) | iterate n f = compose f (iterate (n - 1) f)
fun numbers 0 = [] | numbers n = n :: numbers (n - 1)
val steps = [fn x => x + 1, iterate 5 (fn x => x - 1), iterate 3 (compose (fn x => x * 2) (fn x => x - 3))]
val l = numbers 400

fun main (_, arguments) =
  let
    val times = case arguments of a :: _ => valOf (Int.fromString a) | [] => 10
    fun loop (i, sum) = if i < times then loop (i + 1, (sum + foldRight (fn (f, rest) => foldRight (op +) 0 (each f l) + rest) i steps) mod 1000003) else print (Int.toString sum ^ "\n")
  in
    loop (0, 0); OS.Process.success
  end

val () = SMLofNJ.exportFn (valOf (OS.Process.getEnv "IMAGE"), main)
