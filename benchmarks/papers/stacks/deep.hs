{-# LANGUAGE BangPatterns #-}
{-# OPTIONS_GHC -fno-cse -fno-full-laziness #-}
-- Lists are made and dropped below a deep recursion; see deep.scm. The options: each list is made, though all
-- are equal.
import System.Environment

data List = End | Cell !Int !List

numbers :: Int -> List
numbers 0 = End
numbers n = let !rest = numbers (n - 1) in Cell n rest
{-# NOINLINE numbers #-}

size :: List -> Int -> Int
size End !n = n
size (Cell _ rest) !n = size rest (n + 1)

work :: Int -> Int -> Int
work 0 !total = total
work n !total = work (n - 1) (total + size (numbers 1000) 0)

descend :: Int -> Int -> Int
descend 0 lists = work lists 0
descend n lists = let { here = Cell n End; !below = descend (n - 1) lists } in below + value here
{-# NOINLINE descend #-}

value :: List -> Int
value End = 0
value (Cell n _) = n `rem` 3
{-# NOINLINE value #-}

main :: IO ()
main = do
  arguments <- getArgs
  let (depth, lists) = case map read arguments of { (d : l : _) -> (d, l); [d] -> (d, 100); [] -> (1000, 100) }
  print (descend depth lists)
