(* yielding.scm in Standard ML of New Jersey; the image goes to the file that IMAGE names. *)
open SMLofNJ.Cont
datatype tree = Leaf of int | Node of tree * tree
fun tree 0 = Leaf 1 | tree n = Node (tree (n - 1), tree (n - 1))
datatype state = Walking of unit cont | Beginning
fun generator walk =
  let
    val return : int option cont option ref = ref NONE
    val state = ref Beginning
    fun give v = throw (valOf (!return)) v
    fun yield v = callcc (fn k => (state := Walking k; give (SOME v)))
  in
    fn () => callcc (fn k =>
      (return := SOME k;
       case !state of Walking k => throw k () | Beginning => (walk yield; give NONE)))
  end
fun leaves (Leaf n) yield = yield n | leaves (Node (a, b)) yield = (leaves a yield; leaves b yield)
val t = tree 10
fun count (next, sum) = case next () of SOME n => count (next, sum + n) | NONE => sum

fun main (_, arguments) =
  let
    val times = case arguments of a :: _ => valOf (Int.fromString a) | [] => 4
    fun loop (i, sum) = if i < times then loop (i + 1, count (generator (leaves t), sum)) else print (Int.toString sum ^ "\n")
  in
    loop (0, 0); OS.Process.success
  end

val () = SMLofNJ.exportFn (valOf (OS.Process.getEnv "IMAGE"), main)
