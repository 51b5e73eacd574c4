package main

import (
	"os"
	"testing"
)

// most is how often a step may do the work that each should do once, in the order of works. It may fall, and not grow.
//
// The trusted core takes no plan that it is handed, so in measure it parses the spec for itself; and it hashes the plan
// that was counted by as it is after the counting, not as it is remembered. A run is plan, measure and publish.
//
// The budget of the quickstart can be spent on two laws of noise. Its plan is the first of which estimates are planned;
// the two others are with Laplace noise for all tables, by levels within each other and by levels of their own.
var most = map[string][4]int{
	"check":           {1, 1, 0, 3},
	"plan":            {1, 1, 0, 3},
	"measure":         {2, 2, 1, 3},
	"publish":         {1, 1, 0, 3},
	"show":            {0, 0, 0, 0},
	"query":           {1, 1, 0, 1},
	"verify":          {1, 1, 0, 3},
	"run, all in one": {3, 3, 1, 4},
}

func TestStepsDoNotRepeatMoreWork(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("compiles the program anew: set DPRELEASE_LONG to run it")
	}
	read, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	counted, err := read.countSteps(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		for i, w := range tasks {
			if got := counted[s.name][w.name]; got > most[s.name][i] {
				t.Errorf("in %s, %s %d times, and so far %d times at most", s.name, w.name, got, most[s.name][i])
			}
		}
	}
	if counted["plan"]["the spec is parsed"] == 0 {
		t.Error("a plan is made without its spec being parsed: the counters count nothing")
	}
}

// The count of a function is that of the first block within its body, whatever the order of the profile.
func TestEntryCount(t *testing.T) {
	read := planted(t)
	e, ok := read.findEntry("plan.Plan.Hash")
	if !ok || e.file != "plan/plan.go" || e.from.Line != 21 {
		t.Fatalf("%v, %v", e, ok)
	}
	profile := `mode: atomic
planted/plan/plan.go:18.32,18.60 1 7
planted/plan/plan.go:21.40,21.45 1 5
planted/plan/plan.go:21.28,21.39 1 3
planted/ring/plan.go:21.28,21.39 1 9
planted/plan/plan.go:24.33,24.50 1 8
`
	if got := e.timesEntered("planted", profile); got != 3 {
		t.Errorf("%d", got)
	}
	if _, ok := read.findEntry("plan.Plan.Missing"); ok {
		t.Error("a function that is not there was found")
	}
}
