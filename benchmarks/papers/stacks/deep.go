// Lists are made and dropped below a deep recursion; see deep.scm.
package main

import (
	"fmt"
	"os"
	"strconv"
)

type list struct {
	first int
	rest  *list
}

func numbers(n int) *list {
	if n == 0 {
		return nil
	}
	return &list{n, numbers(n - 1)}
}

func size(l *list) int {
	n := 0
	for ; l != nil; l = l.rest {
		n++
	}
	return n
}

func work(n, sum int) int {
	for ; n > 0; n-- {
		sum += size(numbers(1000))
	}
	return sum
}

//go:noinline
func cell(n int) *list { return &list{n, nil} }

func descend(n, lists int) int {
	if n == 0 {
		return work(lists, 0)
	}
	here := cell(n)
	return descend(n-1, lists) + here.first%3
}

func argument(i, otherwise int) int {
	if i < len(os.Args) {
		otherwise, _ = strconv.Atoi(os.Args[i])
	}
	return otherwise
}

func main() {
	fmt.Println(descend(argument(1, 1000), argument(2, 100)))
}
