// The sieve of Eratosthenes as a chain of threads; see sieve.scm.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func sift(prime int, in, out chan int) {
	for n := range in {
		if n%prime > 0 {
			out <- n
		}
	}
}

func main() {
	which := 50
	if len(os.Args) > 1 {
		which, _ = strconv.Atoi(os.Args[1])
	}
	source := make(chan int)
	go func() {
		for n := 2; ; n++ {
			source <- n
		}
	}()
	in := source
	for i := 1; ; i++ {
		prime := <-in
		if i == which {
			fmt.Println(prime)
			return
		}
		out := make(chan int)
		go sift(prime, in, out)
		in = out
	}
}
