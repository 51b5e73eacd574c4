package scan

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// This file enumerates what one unit can change in the sum of several holders' answers, where two of them can have
// rows of it, and compares that with the sensitivity for which a plan draws noise.

const heldText = `version: 1
release: r
privacy: {protects: person, neighbours: NEIGHBOURS}
diagnostics: {share: 5%}
budget: {epsilon: 1}
holders: {keys: {a: a.pub, b: b.pub, c: c.pub}, units: UNITS, trusted: 2}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: id, max_rows: 2}
WEIGHT    columns:
      area: {values: [p, q]}
      size: {values: [s, l]}
      pay: {type: integer, range: [-1, 3]}
marginals: {MARGINALS}
`

// heldMarginals are the marginals that are planned, each by itself.
var heldMarginals = map[string]string{
	"counts":     "m: {by: [area]}",
	"sums":       "m: {by: [area], stats: [count, {sum: pay}, {mean: pay}]}",
	"variances":  "m: {by: [area], stats: [{variance: pay}]}",
	"ratios":     "m: {by: [size], stats: [{ratio: {sum: pay, over: count}, as: rate}]}",
	"medians":    "m: {by: [area], stats: [{median: pay}]}",
	"one group":  "m: {by: [area], per_unit: {groups: 1}}",
	"one row":    "m: {by: [area, size], per_unit: {total: 1}, stats: [count, {sum: pay}]}",
	"all pairs":  "m: {by: [area, size], every: [1, 2]}",
	"cumulative": "m: {by: [pay, area], cumulative: [pay]}",
}

// heldPlan plans a marginal of holders.
func heldPlan(t *testing.T, neighbours, units, weight, marginal string) *plan.Plan {
	t.Helper()
	keys := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		key := base64.RawStdEncoding.EncodeToString(bytes.Repeat([]byte(name), 64))
		keys[name+".pub"] = "dprelease-holder-1 " + key + "\n"
	}
	if weight != "" {
		weight = "    " + weight + "\n"
	}
	text := replaced(heldText, "NEIGHBOURS", neighbours, "UNITS", units, "WEIGHT", weight, "MARGINALS", marginal)
	r, err := spec.Parse(spec.Source{Name: "held.yaml", Text: text, Files: keys})
	if err != nil {
		t.Fatal(err)
	}
	c, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return c.Plan()
}

// heldRows are the rows that a unit can have with one holder.
var heldRows = []string{"p,s,3,2", "q,s,3,2", "p,l,-1,2", "q,l,0,0.5"}

// heldShifts returns what each multiset of at most four of these rows changes in the answers of a holder.
func heldShifts(t *testing.T, p *plan.Plan) (all []map[string][]int64) {
	t.Helper()
	dir, numbers := t.TempDir(), 0
	counted := func(rows []string) allCounts {
		text := "id,area,size,pay,w\nother,p,s,1,1\nother,q,l,2,1\nother,q,l,2,1\nthird,q,s,0,1\n"
		for _, r := range rows {
			text += fmt.Sprintf("unit%d,%s\n", numbers, r) // another id each time, so that other rows are kept
		}
		numbers++
		if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return exactOf(t, p, dir, 7)
	}
	without := counted(nil)
	var walk func(first int, rows []string)
	walk = func(first int, rows []string) {
		shift, with := map[string][]int64{}, counted(rows)
		for i, m := range p.Measurements {
			before, after := without.answers[i].Expanded().Counts, with.answers[i].Expanded().Counts
			for cell := range after {
				shift[m.ID] = append(shift[m.ID], after[cell]-before[cell])
			}
		}
		all = append(all, shift)
		if len(rows) < 4 {
			for i := first; i < len(heldRows); i++ {
				walk(i, append(rows, heldRows[i]))
			}
		}
	}
	walk(0, nil)
	return all
}

// distinctShifts returns shifts without repetition.
func distinctShifts(all [][]int64) (out [][]int64) {
	known := map[string]bool{}
	for _, s := range all {
		if key := fmt.Sprint(s); !known[key] {
			known[key] = true
			out = append(out, s)
		}
	}
	return out
}

// combinedShifts returns all sums of two shifts, one of which is taken times a factor.
func combinedShifts(a, b [][]int64, times int64) (out [][]int64) {
	for _, x := range a {
		for _, y := range b {
			sum := make([]int64, len(x))
			for i := range sum {
				sum[i] = x[i] + times*y[i]
			}
			out = append(out, sum)
		}
	}
	return distinctShifts(out)
}

// largestShift returns the largest norm of shifts, the sum of absolute values.
func largestShift(all [][]int64) (most int64) {
	for _, s := range all {
		norm := int64(0)
		for _, x := range s {
			norm += max(x, -x)
		}
		most = max(most, norm)
	}
	return most
}

// TestNoUnitMovesTheSumOfHoldersFurther enumerates neighbours: a unit with rows of two holders, or, where units are
// replaced, one in place of another. Nothing moves the sum of the answers further than the plan says; counts of rows
// and sums of values move as far; and the sensitivity of a plan whose units are with one holder each is exceeded.
func TestNoUnitMovesTheSumOfHoldersFurther(t *testing.T) {
	testkit.SkipPassed(t)
	neighboursSeen, questionsSeen := 0, 0
	for _, neighbours := range []string{"add-remove", "replace"} {
		for _, weight := range []string{"", "weight: {from: w, range: [0.5, 2], step: 0.5, kind: design}"} {
			for name, marginal := range heldMarginals {
				if weight != "" && strings.Contains(name, "cumulative") {
					continue
				}
				p := heldPlan(t, neighbours, "{overlap: 2}", weight, marginal)
				alone := map[string]int64{}
				for _, m := range heldPlan(t, neighbours, "disjoint", weight, marginal).Measurements {
					alone[m.ID] = m.Mechanism.L1.Int64()
				}
				shifts, exceeded := heldShifts(t, p), 0
				for _, m := range p.Measurements {
					var ofOne [][]int64
					for _, s := range shifts {
						ofOne = append(ofOne, s[m.ID])
					}
					ofOne = distinctShifts(ofOne)
					all := combinedShifts(ofOne, ofOne, 1)
					if neighbours == "replace" {
						all = combinedShifts(all, all, -1)
					}
					most, claimed := largestShift(all), m.Mechanism.L1.Int64()
					if most > claimed {
						t.Errorf("%s, %s, %s %s: a unit moves the sum by %d, and the plan says %d", name, m.ID,
							neighbours,
							weight, most, claimed)
					}
					if !strings.HasSuffix(m.ID, "clamped") && isOfRows(name) && most != claimed {
						t.Errorf("%s, %s, %s %s: a unit moves the sum by %d at most, and the plan says %d", name, m.ID,
							neighbours, weight, most, claimed)
					}
					if most > alone[m.ID] {
						exceeded++
					}
					neighboursSeen, questionsSeen = neighboursSeen+len(all), questionsSeen+1
				}
				if exceeded == 0 {
					t.Errorf("%s, %s %s: that two holders have rows of a unit is not noticed", name, neighbours, weight)
				}
			}
		}
	}
	t.Logf("%d questions, %d different shifts", questionsSeen, neighboursSeen)
}

// isOfRows reports whether a marginal is measured by counts and sums of rows, without ranges and residuals.
func isOfRows(name string) bool { return name != "cumulative" && name != "all pairs" }
