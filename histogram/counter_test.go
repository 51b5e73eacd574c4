package histogram_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// meddler is a counter that is not of histogram: it asks another one something else. The type of answers cannot be
// named here, but is inferred.
type meddler[T any] struct {
	count  func(context.Context, histogram.Questions, *noise.RowStreams) (T, error)
	meddle func(q *histogram.Questions, s **noise.RowStreams)
}

func (m meddler[T]) Count(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (T, error) {
	m.meddle(&q, &s)
	return m.count(ctx, q, s)
}

func meddling[T any](count func(context.Context, histogram.Questions, *noise.RowStreams) (T, error),
	meddle func(*histogram.Questions, **noise.RowStreams)) meddler[T] {
	return meddler[T]{count, meddle}
}

const oneRowEach = `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: 1/200}
tables:
  persons:
    source: {csv: "*.csv"}
    unit: {id: who, max_rows: 1}
    columns:
      kind: {values: [a, b, c]}
marginals:
  all: {by: [kind]}
`

func planOfText(t *testing.T, text string) *compiled.Compiled {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "survey.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestACounterAnswersThePlanThatIsPaidFor has a counter ask for less noise, for the questions of a plan with looser
// bounds, for other questions, and bound rows by a key that is known: nothing of it may become the exact answers of the
// plan.
func TestACounterAnswersThePlanThatIsPaidFor(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("who,kind\n")
	for i := range 40 {
		fmt.Fprintf(&rows, "%d,b\nx,c\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	loose := planOfText(t, strings.Replace(oneRowEach, "max_rows: 1", "max_rows: 30", 1))
	for name, meddle := range map[string]func(q *histogram.Questions, s **noise.RowStreams){
		"": func(*histogram.Questions, **noise.RowStreams) {},
		"less noise in the plan": func(q *histogram.Questions, _ **noise.RowStreams) {
			q.Plan.Measurements[0].Mechanism.Parameter.SetFrac64(1, 1000)
		},
		"another plan": func(q *histogram.Questions, _ **noise.RowStreams) { q.Plan = loose.Plan() },
		"none":         func(q *histogram.Questions, _ **noise.RowStreams) { q.Measurements = nil },
		"one twice": func(q *histogram.Questions, _ **noise.RowStreams) {
			q.Measurements = append(q.Measurements, q.Measurements[0])
		},
		"another key": func(_ *histogram.Questions, s **noise.RowStreams) {
			*s = noise.NewStreams(noise.Key{},
				"").Rows()
		},
		"a panic": func(*histogram.Questions, **noise.RowStreams) { panic("7319") },
	} {
		t.Run(name, func(t *testing.T) {
			p := planOfText(t, oneRowEach)
			s := noise.NewStreams(noise.Key{1}, p.Hash())
			_, err := histogram.Count(context.Background(), p, meddling(scan.Files{Dir: dir}.Count, meddle), s)
			if (err == nil) != (name == "") {
				t.Errorf("counted, with the error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "7319") {
				t.Errorf("says what a panic says: %v", err)
			}
		})
	}
}

// TestAPlanThatWasWrittenToIsNotCounted writes to a plan behind its remembered bytes and its hash, which are what is
// approved and charged: none of it may be counted by or drawn from.
func TestAPlanThatWasWrittenToIsNotCounted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte("who,kind\n1,a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	untouched := planOfText(t, oneRowEach)
	loose := planOfText(t, strings.Replace(oneRowEach, "max_rows: 1", "max_rows: 30", 1))
	dear := planOfText(t, strings.Replace(oneRowEach, "1/200", "1/2", 1))
	for name, write := range map[string]func(c *compiled.Compiled){
		"":                     func(*compiled.Compiled) {},
		"the bytes handed out": func(c *compiled.Compiled) { copy(c.Bytes(), dear.Bytes()) },
		"less noise": func(c *compiled.Compiled) {
			c.Measurements[0].Mechanism.Parameter.SetFrac64(1,
				1000)
		},
		"a smaller sensitivity": func(c *compiled.Compiled) { c.Measurements[0].Mechanism.L1.SetInt64(0) },
		"other questions": func(c *compiled.Compiled) {
			c.Measurements = append(c.Measurements,
				c.Measurements[0])
		},
		"a smaller charge":   func(c *compiled.Compiled) { c.Cost.Rho.SetFrac64(1, 1000) },
		"another whole plan": func(c *compiled.Compiled) { *c.Plan() = *dear.Plan() },
		"looser bounds":      func(c *compiled.Compiled) { c.Release().Tables[0].Unit.MaxRows = 30 },
		"another release":    func(c *compiled.Compiled) { *c.Release() = *loose.Release() },
		"another spec":       func(c *compiled.Compiled) { c.Source = loose.Source },
	} {
		t.Run(name, func(t *testing.T) {
			c := planOfText(t, oneRowEach)
			write(c)
			if !slices.Equal(c.Bytes(), untouched.Bytes()) || c.Hash() != untouched.Hash() {
				t.Error("its remembered bytes or hash changed")
			}
			s := noise.NewStreams(noise.Key{1}, c.Hash())
			_, err := histogram.Count(context.Background(), c, scan.Files{Dir: dir}, s)
			if counted := name == "" || name == "the bytes handed out"; (err == nil) != counted {
				t.Errorf("counted, with the error %v", err)
			}
		})
	}
}
