// Command generate writes the made-up stays of a hospital in two years: those that a model is fitted to, and those of
// the next year, with the probabilities that outcomes were drawn by. The files are the same every time.
//
//	go run ./examples/clinic/generate examples/clinic/data
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// stays in a year.
const stays = 20_000

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate DIR")
		os.Exit(2)
	}
	err := os.MkdirAll(os.Args[1], 0o755)
	for i, name := range []string{"stays.csv", "next.csv"} {
		if err == nil {
			text := year(rand.New(rand.NewPCG(2026, uint64(i))), i == 1)
			err = os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// year returns the stays of a year as CSV. A patient has one to three.
func year(r *rand.Rand, withTruth bool) string {
	var b strings.Builder
	b.WriteString("patient,age,emergency,diagnosis,days,earlier,readmitted")
	if withTruth {
		b.WriteString(",truth")
	}
	b.WriteString("\n")
	for n, patient := 0, 1000; n < stays; patient++ {
		age := min(max(int(62+19*r.NormFloat64()), 18), 105)
		diagnosis := r.IntN(len(diagnoses))
		for range 1 + r.IntN(3)*r.IntN(2) {
			if n == stays {
				break
			}
			n++
			s := newStay(r, age, diagnosis)
			p := s.probability()
			readmitted := "no"
			if r.Float64() < p {
				readmitted = "yes"
			}
			fmt.Fprintf(&b, "%d,%d,%s,%s,%d,%d,%s", patient, s.age, s.emergency, diagnoses[s.diagnosis].name, s.days,
				s.earlier,
				readmitted)
			if withTruth {
				fmt.Fprintf(&b, ",%.6f", p)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// diagnoses are chapters, with what each adds to the log-odds of a readmission.
var diagnoses = []struct {
	name  string
	score float64
}{{"circulatory", .5}, {"respiratory", .6}, {"digestive", -.1}, {"injury", -.6}, {"tumour", .9}, {"nervous", 0},
	{"birth", -1.6}, {"other", -.2}}

// stay is a stay of a patient.
type stay struct {
	age       int
	emergency string
	diagnosis int
	days      int
	earlier   int // stays in the year before
}

// newStay draws a stay. Emergencies, and patients who were in hospital before, stay longer.
func newStay(r *rand.Rand, age, diagnosis int) stay {
	s := stay{age: age, emergency: "no", diagnosis: diagnosis, earlier: min(int(r.ExpFloat64()*1.1), 12)}
	days := 3.0
	if r.Float64() < .35+float64(age)/400 {
		s.emergency, days = "yes", 5
	}
	s.days = min(int(r.ExpFloat64()*(days+float64(s.earlier))), 60)
	return s
}

// probability returns the probability of a readmission. It rises with age only above 60, and long stays count only for
// emergencies, so no sum over the columns is exactly right.
func (s stay) probability() float64 {
	score := -3.1 + diagnoses[s.diagnosis].score + .55*math.Sqrt(float64(s.earlier)) + math.Max(float64(s.age)-60, 0)/30
	if s.emergency == "yes" {
		score += .5 + math.Min(float64(s.days), 14)/14
	}
	return 1 / (1 + math.Exp(-score))
}
