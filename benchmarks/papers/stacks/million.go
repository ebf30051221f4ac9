// Many threads wait at one channel and then answer through channels of their own; see million.scm. To close the channel
// is to fill the MVar for all who read it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

func start(gate chan bool, number int) chan int {
	answer := make(chan int, 1)
	go func() {
		<-gate
		answer <- number
	}()
	return answer
}

func main() {
	count := 1000
	if len(os.Args) > 1 {
		count, _ = strconv.Atoi(os.Args[1])
	}
	gate := make(chan bool)
	answers := make([]chan int, 0, count)
	for number := count; number > 0; number-- {
		answers = append(answers, start(gate, number))
	}
	runtime.Gosched()
	close(gate)
	sum := 0
	for _, answer := range answers {
		sum += <-answer
	}
	fmt.Println(sum)
}
