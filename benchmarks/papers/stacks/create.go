// Threads are made one after the other; see create.scm.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	count := 1000
	if len(os.Args) > 1 {
		count, _ = strconv.Atoi(os.Args[1])
	}
	place := make(chan int, 1)
	sum := 0
	for number := 0; number < count; number++ {
		number := number
		go func() { place <- number % 7 }()
		sum += <-place
	}
	fmt.Println(sum)
}
