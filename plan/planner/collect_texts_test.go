package planner_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/selection"
)

// textsText is a collection with a question for texts of at most so many characters.
func textsText(collect string, length int, alphabet string) string {
	return fmt.Sprintf(`version: 1
release: survey
about: {title: A survey}
privacy: {protects: respondent, neighbours: replace}
collect: {answers: {protocol: local, %s}}
tables:
  answers:
    source: {parquet: "*.parquet"}
    collected: answers
    columns:
      word: {type: text, values: {discover: {max_length: %d, alphabet: %s}}}
marginals:
  words: {by: [word]}
`, collect, length, alphabet)
}

const latin = "abcdefghijklmnopqrstuvwxyz"

// TestTextQuestionsOfAPlan checks the questions for first characters: ever longer ones to the whole length, no more
// texts to try than a million, and chances that add up to 1.
func TestTextQuestionsOfAPlan(t *testing.T) {
	for _, c := range []struct {
		length, respondents int
		alphabet            string
		lengths             []int64
	}{
		{3, 100_000, latin, []int64{3}},
		{12, 200_000, latin, []int64{3, 5, 7, 9, 11, 12}},
		{12, 20_000, latin, []int64{4, 6, 8, 10, 12}},
		{12, 100_000_000, latin, []int64{3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		{20, 100_000, "ab", []int64{18, 20}},
	} {
		p, err := plantest.PlanOfText(t, textsText(fmt.Sprintf("epsilon: 2, expect: %d", c.respondents), c.length,
			c.alphabet))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := p.Measurements[0].Reports()
		var lengths []int64
		for _, s := range r.Prefixes {
			lengths = append(lengths, s.Length)
		}
		if fmt.Sprint(lengths) != fmt.Sprint(c.lengths) || r.Drawn() != certainty ||
			p.Measurements[0].Selection.Kind() != selection.KindTexts ||
			p.Tables[0].Cells != 0 || p.Measurements[0].Cells != 0 {
			t.Errorf("%+v: %v, chances add up to %d", c, lengths, r.Drawn())
		}
		if math.Abs(float64(r.Chance)/certainty-1./3) > 1e-9 {
			t.Errorf("%+v: whole texts are asked of %g", c, float64(r.Chance)/certainty)
		}
	}
}

// TestForgedTextQuestionsAreRefused changes what a plan says of texts.
func TestForgedTextQuestionsAreRefused(t *testing.T) {
	found := func(m *plan.Measurement, change func(f *selection.Texts)) {
		f := m.Selection.(selection.Texts)
		change(&f)
		m.Selection = f
	}
	refuseForged(t, textsText("epsilon: 2, expect: 200000", 12, latin), forgeries{
		"as it is":       func(*plan.Measurement, *counted.Reports) {},
		"keeps more":     func(_ *plan.Measurement, r *counted.Reports) { r.Keep += 1 << 30 },
		"categories":     func(_ *plan.Measurement, r *counted.Reports) { r.Categories = 1009 },
		"no starts":      func(_ *plan.Measurement, r *counted.Reports) { r.Prefixes = nil },
		"no length":      func(_ *plan.Measurement, r *counted.Reports) { r.Length = 0 },
		"another length": func(_ *plan.Measurement, r *counted.Reports) { r.Length = 13 },
		"out of order": func(_ *plan.Measurement, r *counted.Reports) {
			r.Prefixes[0], r.Prefixes[1] = r.Prefixes[1], r.Prefixes[0]
		},
		"a chance of 0":   func(_ *plan.Measurement, r *counted.Reports) { r.Prefixes[0].Chance = 0 },
		"a large chance":  func(_ *plan.Measurement, r *counted.Reports) { r.Prefixes[0].Chance = math.MaxInt64 },
		"chances above 1": func(_ *plan.Measurement, r *counted.Reports) { r.Chance = certainty },
		"never whole":     func(_ *plan.Measurement, r *counted.Reports) { r.Chance = 0 },
		"in bands": func(_ *plan.Measurement, r *counted.Reports) {
			r.Along, r.Bands = "word", make([]counted.Bands, 1)
		},
		"with cells":    func(m *plan.Measurement, _ *counted.Reports) { m.Cells = 5 },
		"all given out": func(m *plan.Measurement, _ *counted.Reports) { m.Selection = selection.All{} },
		"another alphabet": func(m *plan.Measurement, _ *counted.Reports) {
			found(m, func(f *selection.Texts) { f.Alphabet = "ab" })
		},
		"no alphabet": func(m *plan.Measurement, _ *counted.Reports) {
			found(m, func(f *selection.Texts) { f.Alphabet = "" })
		},
		"another column": func(m *plan.Measurement, _ *counted.Reports) {
			found(m, func(f *selection.Texts) { f.Column = "x" })
		},
		"nothing is followed": func(m *plan.Measurement, _ *counted.Reports) {
			found(m, func(f *selection.Texts) { f.Followed = 0 })
		},
	})
}

// TestTextsWithOtherQuestions asks for texts and a question of few categories: devices draw one.
func TestTextsWithOtherQuestions(t *testing.T) {
	text := strings.Replace(textsText("epsilon: 8, expect: 200000", 6, latin), "marginals:",
		"      used: {values: [a, b]}\nmarginals:\n  used: {by: [used]}", 1)
	p, err := plantest.PlanOfText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, m := range p.Measurements {
		r, _ := m.Reports()
		sum += r.Drawn()
	}
	if sum != certainty || !p.Measurements[0].IsDrawn() || !p.Measurements[1].IsDrawn() {
		t.Errorf("chances add up to %d", sum)
	}
}
