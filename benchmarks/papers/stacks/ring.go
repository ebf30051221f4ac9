// A token goes round in a ring of 503 threads; see ring.scm. A channel with room for one value is an MVar.
package main

import (
	"fmt"
	"os"
	"strconv"
)

const size = 503

func memberOfRing(winner chan int, number int, in, out chan int) {
	for {
		token := <-in
		if token == 0 {
			winner <- number
			return
		}
		out <- token - 1
	}
}

func main() {
	hops := 1000
	if len(os.Args) > 1 {
		hops, _ = strconv.Atoi(os.Args[1])
	}
	winner := make(chan int)
	first := make(chan int, 1)
	in := first
	for number := 1; number <= size; number++ {
		out := first
		if number < size {
			out = make(chan int, 1)
		}
		go memberOfRing(winner, number, in, out)
		in = out
	}
	first <- hops
	fmt.Println(<-winner)
}
