// Two threads hand a number to and fro; see pingpong.scm.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	rounds := 1000
	if len(os.Args) > 1 {
		rounds, _ = strconv.Atoi(os.Args[1])
	}
	ping, pong := make(chan int, 1), make(chan int, 1)
	go func() {
		for n := range ping {
			pong <- n + 1
		}
	}()
	n := 0
	for i := 0; i < rounds; i++ {
		ping <- n
		n = <-pong
	}
	fmt.Println(n)
}
