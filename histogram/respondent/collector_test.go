package respondent

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// TestCollectorSaysWhatThePlanSays compares the collector's file with the plan: questions, columns, categories,
// probabilities and chances.
func TestCollectorSaysWhatThePlanSays(t *testing.T) {
	for _, c := range []struct {
		collect, asks, epsilon string
		sizes                  []int
	}{
		{"epsilon: 2, expect: 100000", client.One, "2", []int{2, 3, 600}},
		{"epsilon: 1/3, expect: 100000, shuffled: true, honest: 1000", client.One, "1/3", []int{2, 3, 600}},
		{"epsilon: 10, expect: 100000", client.All, "10", []int{2, 3}},
	} {
		p := planOf(t, specOf(c.collect, c.sizes...))
		got := collectorOf(t, p)
		if got.Release != "survey" || got.Collection != "answers" || got.Title != "A survey" || got.Asks != c.asks ||
			got.Epsilon != c.epsilon || len(got.Questions) != len(p.Measurements) {
			t.Errorf("%s: %+v", c.collect, got)
			continue
		}
		chances, sum := int64(0), new(big.Rat)
		for i, q := range got.Questions {
			m := p.Measurements[i]
			reports, _ := m.Reports()
			want := client.Question{Name: m.ID, Chance: reports.Chance, Form: string(reports.Form),
				Categories: reports.Categories, Support: reports.Support, Keep: reports.Keep}
			plain := client.Question{Name: q.Name, Chance: q.Chance, Form: q.Form,
				Categories: q.Categories, Support: q.Support, Keep: q.Keep}
			if fmt.Sprint(plain) != fmt.Sprint(want) || !sameRat(q.Epsilon, m.Mechanism.Parameter) {
				t.Errorf("%s: question %+v, want %+v", c.collect, plain, want)
			}
			checkChances(t, got.Questions[i], reports.Randomiser().Chances)
			chances += q.Chance
			sum.Add(sum, m.Mechanism.Parameter)
			if column := q.Columns[0]; column.Name != "c"+strings.TrimPrefix(q.Name, "q") ||
				int64(len(column.Categories)) != m.Cells || column.Categories[0] != "1" || column.Labels != nil {
				t.Errorf("%s: columns of %s: %v", c.collect, q.Name, q.Columns)
			}
		}
		if c.asks == client.One && chances != 1<<48 || c.asks == client.All &&
			(chances != 0 || !sameRat(c.epsilon, sum)) {
			t.Errorf("%s: chances add up to %d, ε to %s", c.collect, chances, sum.RatString())
		}
	}
}

// checkChances compares p and q of the plan with what the numbers of a question give: each of k−1 other categories is
// in w−1 of k−1 reports with the answer and in w of k−1 without it.
func checkChances(t *testing.T, q client.Question, chances func() (p, q *big.Rat)) {
	t.Helper()
	p, other := chances()
	keep, k, w := big.NewRat(q.Keep, 1<<48), q.Categories, q.Support
	with := new(big.Rat).Mul(keep, big.NewRat(w-1, k-1))
	without := new(big.Rat).Mul(new(big.Rat).Sub(big.NewRat(1, 1), keep), big.NewRat(w, k-1))
	if p.Cmp(keep) != 0 || other.Cmp(with.Add(with, without)) != 0 {
		t.Errorf("%s: p = %s, q = %s", q.Name, p, other)
	}
}

// TestCollectorHasTheWordsOfTheSpec reads titles and labels, and the order of the categories of two columns.
func TestCollectorHasTheWordsOfTheSpec(t *testing.T) {
	text := strings.NewReplacer("      c2: {",
		"      age: {type: integer, range: [0, 99], levels: {band: {edges: [0, 30, 60]}}}\n"+
			"      sex: {title: Sex, values: [f, m], labels: {f: Women, m: Men}}\n      c2: {title: Twice, ",
		"{by: [c2]}", "{title: Twice by sex, by: [sex, age.band]}").Replace(specOf("epsilon: 2, expect: 100000", 2))
	c := collectorOf(t, planOf(t, text))
	columns := c.Questions[0].Columns
	if len(columns) != 2 || columns[0].Name != "sex" || columns[0].Title != "Sex" || columns[1].Name != "age.band" ||
		!slices.Equal(columns[0].Labels, []string{"Women", "Men"}) ||
		!slices.Equal(columns[0].Categories, []string{"f", "m"}) || len(columns[1].Categories) != 3 {
		t.Fatalf("%+v", columns)
	}
	answers := map[string]string{"sex": "m", "age.band": columns[1].Categories[1]}
	if v, err := c.Questions[0].Answer(answers); v != 4 || err != nil {
		t.Errorf("category %d: %v", v, err)
	}
}

// TestRowsHaveNoCollector refuses a plan that counts rows.
func TestRowsHaveNoCollector(t *testing.T) {
	p := planOf(t, "version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: replace}\nbudget: {epsilon: 1}\n"+
		"tables: {t: {source: {csv: t.csv}, unit: row, columns: {sex: {values: [f, m]}}}}\n"+
		"marginals: {m: {by: [sex]}}\n")
	if text, err := Collector(p); text != nil || err == nil || !strings.Contains(err.Error(), "no `collect`") {
		t.Errorf("%s, %v", text, err)
	}
}
