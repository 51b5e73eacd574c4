// Command generate writes the made-up stays of three hospitals: a folder for each, and all of them together in one. The
// files are the same every time.
//
//	go run ./examples/federated/generate examples/federated/data
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// hospital has so many patients, of whom a share is in each ward.
type hospital struct {
	name     string
	patients int
	wards    []float64
}

var (
	hospitals = []hospital{
		{"north", 21_000, []float64{8, 3, 30, 9, 35, 15}},
		{"east", 12_000, []float64{14, 10, 20, 26, 20, 10}},
		{"south", 7_000, []float64{4, 2, 50, 12, 28, 4}},
	}
	wards    = []string{"ICU1", "ICU2", "MED1", "MED2", "SUR1", "SUR2"}
	outcomes = []string{"discharged", "transferred", "died"}
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate DIR")
		os.Exit(2)
	}
	var all strings.Builder
	all.WriteString(header)
	r := rand.New(rand.NewPCG(2026, 11))
	for _, h := range hospitals {
		rows := h.stays(r)
		all.WriteString(rows)
		write(filepath.Join(os.Args[1], h.name), h.name, header+rows)
	}
	write(filepath.Join(os.Args[1], "pooled"), "all", all.String())
}

const header = "patient,ward,age,outcome,days\n"

// write writes the stays of one folder.
func write(dir, name, text string) {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "stays-"+name+".csv"), []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// stays returns the rows of the hospital's patients, each with one to four stays.
func (h hospital) stays(r *rand.Rand) string {
	var b strings.Builder
	for i := range h.patients {
		age := min(110, max(0, int(58+r.NormFloat64()*19)))
		for range 1 + pick(r, []float64{78, 15, 5, 2}) {
			ward := pick(r, h.wards)
			risk := .01 + float64(age)/2000
			if ward < 2 {
				risk *= 4
			}
			outcome := pick(r, []float64{1 - risk - .08, .08, risk})
			days := min(90, int(r.ExpFloat64()*(4+float64(age)/15)))
			fmt.Fprintf(&b, "%s-%05d,%s,%d,%s,%d\n", h.name, i, wards[ward], age, outcomes[outcome], days)
		}
	}
	return b.String()
}

// pick draws an index, each with a chance in proportion to its weight.
func pick(r *rand.Rand, weights []float64) int {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	x := r.Float64() * sum
	for i, w := range weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return len(weights) - 1
}
