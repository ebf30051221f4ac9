{-# LANGUAGE BangPatterns #-}
{-# OPTIONS_GHC -fno-cse -fno-full-laziness #-}
-- Binary trees, whose counts are added up by plain recursion; see trees.scm. The options: trees that are
-- equal are made each, as elsewhere.
import System.Environment

data Tree = Leaf | Node !Tree !Tree

make :: Int -> Tree
make 0 = Leaf
make depth = let { !left = make (depth - 1); !right = make (depth - 1) } in Node left right
{-# NOINLINE make #-}

nodes :: Tree -> Int
nodes Leaf = 1
nodes (Node left right) = 1 + nodes left + nodes right

treesOf :: Int -> Int -> Int
treesOf deepest depth = 2 ^ (4 + deepest - depth)

countTrees :: Int -> Int -> Int -> Int
countTrees deepest n depth
  | depth > deepest = 0
  | n == 0 = countTrees deepest (treesOf deepest (depth + 2)) (depth + 2)
  | otherwise = let { !here = nodes (make depth); !rest = countTrees deepest (n - 1) depth } in here + rest

main :: IO ()
main = do
  arguments <- getArgs
  let deepest = case arguments of { (n : _) -> read n; [] -> 10 } :: Int
      !lasting = make deepest
      !total = countTrees deepest (treesOf deepest 4) 4
  print $! total + nodes lasting
