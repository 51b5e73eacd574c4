// Command generate writes a made-up nation: states, counties, tracts, block groups and blocks, and the persons who live
// there. It is the same on every computer, and a part of it can be made without the rest.
//
//	go run ./examples/census/generate examples/census/data
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// defaultSeed makes a nation whose races at 1/1000 have shares close to the expected ones. With three states, those of
// most seeds are far from them.
const defaultSeed = 2095

func main() {
	var w writer
	flag.Uint64Var(&w.seed, "seed", defaultSeed, "`number` that the nation is made from")
	scale := flag.String("scale", "1/1000", "size of the nation: 1 is the United States in 2020, 1/n a part")
	flag.StringVar(&w.only, "only", "", "make only the area with this `code`, as in geo/blocks.csv")
	flag.BoolVar(&w.shuffle, "shuffle", false, "write the persons of a state in random order, not by block")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "`number` of states that are made at the same time")
	flag.Parse()
	var err error
	if w.nth, err = parseScale(*scale); err == nil && (*workers < 1 || flag.NArg() != 1) {
		err = fmt.Errorf("want at least one worker, and the folder of the files after the flags")
	}
	w.dir = flag.Arg(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(2)
	}
	made, err := w.write(*workers)
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
	made.write(os.Stdout)
}

// smallest is the n of the smallest nation, 1/n.
const smallest = 100_000

// parseScale returns the n of a scale of 1/n.
func parseScale(text string) (int, error) {
	if text == "1" {
		return 1, nil
	}
	digits, isPart := strings.CutPrefix(text, "1/")
	n, err := strconv.Atoi(digits)
	if !isPart || err != nil || n < 1 || n > smallest {
		return 0, fmt.Errorf("scale %q: want 1, or 1/n with n up to %d, such as 1/1000", text, smallest)
	}
	return n, nil
}
