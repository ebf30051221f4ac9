// Binary trees, whose counts are added up by plain recursion; see trees.scm.
package main

import (
	"fmt"
	"os"
	"strconv"
)

type tree struct{ left, right *tree }

func makeTree(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	left := makeTree(depth - 1)
	return &tree{left, makeTree(depth - 1)}
}

func nodes(t *tree) int {
	if t.left == nil {
		return 1
	}
	return 1 + nodes(t.left) + nodes(t.right)
}

func treesOf(deepest, depth int) int { return 1 << (4 + deepest - depth) }

func countTrees(deepest, n, depth int) int {
	if depth > deepest {
		return 0
	}
	if n == 0 {
		return countTrees(deepest, treesOf(deepest, depth+2), depth+2)
	}
	here := nodes(makeTree(depth))
	return here + countTrees(deepest, n-1, depth)
}

func main() {
	deepest := 10
	if len(os.Args) > 1 {
		deepest, _ = strconv.Atoi(os.Args[1])
	}
	lasting := makeTree(deepest)
	sum := countTrees(deepest, treesOf(deepest, 4), 4)
	fmt.Println(sum + nodes(lasting))
}
