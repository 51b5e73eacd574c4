// Command generate writes the made-up answers of the example of a collection: 100 000 students, one a line, the same
// file every time.
//
//	go run ./examples/local/generate examples/local/answers.csv
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// students who answer.
const students = 100_000

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE.csv")
		os.Exit(2)
	}
	err := os.MkdirAll(filepath.Dir(os.Args[1]), 0o755)
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(answers(rand.New(rand.NewPCG(2026, 5)))), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// answers returns the whole file.
func answers(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("student,used,faculty,drug,drinks\n")
	for student := range students {
		faculty := pick(r, faculties, facultyWeight)
		drug := faculties[faculty].drug(r)
		used := "no"
		if drug != "none" && r.Float64() < .55 {
			used = "yes"
		}
		drinks := drinkNames[pick(r, drinkNames, drinkWeight[used == "yes"])]
		fmt.Fprintf(&b, "%d,%s,%s,%s,%s\n", student, used, faculties[faculty].name, drug, drinks)
	}
	return b.String()
}

// faculty has a name, and how many of its students have used which drug most.
type faculty struct {
	name  string
	users []float64
}

var (
	drugNames = []string{"none", "cannabis", "cocaine", "mdma", "other"}
	faculties = []faculty{
		{"arts", []float64{56, 31, 4, 6, 3}},
		{"law", []float64{68, 17, 10, 3, 2}},
		{"medicine", []float64{78, 13, 2, 3, 4}},
		{"science", []float64{67, 23, 2, 5, 3}},
		{"engineering", []float64{72, 21, 2, 3, 2}},
	}
	facultyWeight = []float64{24, 21, 11, 20, 24}
	drinkNames    = []string{"0", "1-7", "8-14", "15-28", "over"}
	// by whether the student has used drugs in the last month
	drinkWeight = map[bool][]float64{false: {31, 38, 18, 10, 3}, true: {9, 26, 29, 24, 12}}
)

// drug draws the drug that a student of the faculty has used most.
func (f faculty) drug(r *rand.Rand) string { return drugNames[pick(r, drugNames, f.users)] }

// pick draws the place of one of the options with the given weights.
func pick[T any](r *rand.Rand, options []T, weight []float64) int {
	var sum float64
	for _, w := range weight {
		sum += w
	}
	u := r.Float64() * sum
	for i, w := range weight {
		if u < w {
			return i
		}
		u -= w
	}
	return len(options) - 1
}
