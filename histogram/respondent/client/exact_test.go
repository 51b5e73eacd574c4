package client_test

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// This file computes the law of a report exactly: it feeds the draws of a report every number that they can use, and
// adds up the probabilities. Nothing is sampled.

// law is the probability of each report.
type law map[string]*big.Rat

// add adds the probability of a report.
func (l law) add(report []byte, p *big.Rat) {
	if l[string(report)] == nil {
		l[string(report)] = new(big.Rat)
	}
	l[string(report)].Add(l[string(report)], p)
}

// walk feeds a report the bytes that continue a prefix. options returns the bytes that a next draw can use, each as
// likely as the others; rejected ones start a draw again, so that they do not change the law.
func (l law) walk(q *client.Question, v int64, prefix []byte, p *big.Rat, options func(drawn []byte) []byte) {
	if report := randomised(q, v, prefix); report != nil {
		l.add(report, p)
		return
	}
	next := options(prefix[6:])
	each := new(big.Rat).Quo(p, big.NewRat(int64(len(next)), 1))
	for _, u := range next {
		l.walk(q, v, append(prefix[:len(prefix):len(prefix)], u), each, options)
	}
}

// lawOf returns the law of the reports of a category.
func lawOf(q *client.Question, v int64) law {
	l := law{}
	for _, kept := range []bool{true, false} {
		first, p := six(q.Keep-1), big.NewRat(q.Keep, certain)
		if !kept {
			first, p = six(q.Keep), big.NewRat(certain-q.Keep, certain)
		}
		l.walk(q, v, first, p, func(drawn []byte) []byte { return optionsOf(q, v, kept, drawn) })
	}
	return l
}

// optionsOf returns the bytes that the next draw of a report can use: of a set, those of the categories that are not
// yet in it; of a permuted report, those of a and then of t.
func optionsOf(q *client.Question, v int64, kept bool, drawn []byte) (next []byte) {
	if q.Form == client.Set {
		for u := range byte(q.Categories) {
			if int64(u) != v && !bytes.Contains(drawn, []byte{u}) {
				next = append(next, u)
			}
		}
		return next
	}
	n := q.Categories - 1
	if isT := len(drawn) == 1; isT && kept {
		n = q.Support
	} else if isT {
		n = q.Categories - q.Support
	}
	for u := range byte(n) {
		next = append(next, u)
	}
	return next
}

// smallQuestions are questions whose reports can all be listed.
func smallQuestions(t testing.TB) (all []client.Question) {
	for _, epsilon := range []string{"1/10", "1", "3"} {
		for k := 2; k <= 8; k++ {
			all = append(all, question(t, client.Set, epsilon, column("c", k)))
		}
		for _, k := range []int{2, 3, 4, 6, 10} {
			all = append(all, question(t, client.Permuted, epsilon, column("c", k)))
		}
	}
	// with more categories in a report than a collector would choose
	wide := question(t, client.Set, "1", column("c", 6))
	wide.Support, wide.Keep = 4, certain/20*15
	return append(all, wide)
}

// TestLawsAreExact compares the probability of each report with the formula, and the largest ratio of the probabilities
// of a report under two answers with e^ε.
func TestLawsAreExact(t *testing.T) {
	for _, q := range smallQuestions(t) {
		t.Run(fmt.Sprintf("%s %d of %d at %s", q.Form, q.Support, q.Categories, q.Epsilon), func(t *testing.T) {
			laws := make([]law, q.Categories)
			for v := range q.Categories {
				laws[v] = lawOf(&q, v)
				checkLaw(t, &q, v, laws[v])
			}
			most := new(big.Rat)
			for _, one := range laws {
				for report, p := range one {
					for _, other := range laws {
						if other[report] == nil {
							t.Fatalf("report %x is possible under some answers only", report)
						}
						if ratio := new(big.Rat).Quo(p, other[report]); ratio.Cmp(most) > 0 {
							most = ratio
						}
					}
				}
			}
			r := local.Randomiser{Categories: q.Categories, Support: q.Support, Keep: q.Keep}
			if most.Cmp(r.Ratio()) != 0 {
				t.Errorf("the largest ratio is %s, want %s", most.FloatString(20), r.Ratio().FloatString(20))
			}
		})
	}
}

// checkLaw compares a law with the formula in the comment of [client.Question.Randomise].
func checkLaw(t *testing.T, q *client.Question, v int64, l law) {
	t.Helper()
	k, w := q.Categories, q.Support
	holding, other := new(big.Int).Binomial(k-1, w-1), new(big.Int).Binomial(k-1, w)
	if q.Form == client.Permuted {
		holding, other = big.NewInt(w*(k-1)), big.NewInt((k-w)*(k-1))
	}
	if want := new(big.Int).Add(holding, other); want.Cmp(big.NewInt(int64(len(l)))) != 0 {
		t.Fatalf("%d reports are possible, want %s", len(l), want)
	}
	for report, p := range l {
		want := new(big.Rat).SetFrac(big.NewInt(certain-q.Keep), new(big.Int).Mul(other, big.NewInt(certain)))
		if histogramtest.Holds(q, []byte(report), v) {
			want.SetFrac(big.NewInt(q.Keep), new(big.Int).Mul(holding, big.NewInt(certain)))
		}
		if p.Cmp(want) != 0 {
			t.Fatalf("category %d: report %x has probability %s, want %s", v, report, p, want)
		}
		held := int64(0)
		for u := range k {
			if histogramtest.Holds(q, []byte(report), u) {
				held++
			}
		}
		if !q.Valid([]byte(report)) || held != w {
			t.Fatalf("category %d: report %x holds %d categories, want %d", v, report, held, w)
		}
	}
}

// TestRejectedBytesChangeNothing inserts, before every byte of the draws of a set, each byte that must be rejected, and
// checks that the highest bits of a byte do not matter.
func TestRejectedBytesChangeNothing(t *testing.T) {
	q := question(t, client.Set, "1/10", column("c", 7))
	const v = 2
	for _, kept := range []bool{true, false} {
		drawn := []byte{5, 0, 6}
		start := six(0)
		if !kept {
			start = six(certain - 1)
		}
		if kept {
			drawn = drawn[:q.Support-1]
		}
		want := randomised(&q, v, append(start, drawn...))
		if want == nil || randomised(&q, v, append(start, drawn[:len(drawn)-1]...)) != nil {
			t.Fatalf("kept %t: %v is not what a report draws", kept, drawn)
		}
		for i := range drawn {
			for b := range 256 {
				low := byte(b) & 7
				if isNew := low < 7 && low != v && !bytes.Contains(drawn[:i], []byte{low}); isNew && low != drawn[i] {
					continue
				}
				with := append(append(bytes.Clone(start), drawn[:i]...), byte(b))
				if low == drawn[i] {
					with = append(with, drawn[i+1:]...)
				} else {
					with = append(with, drawn[i:]...)
				}
				if got := randomised(&q, v, with); !bytes.Equal(got, want) {
					t.Errorf("kept %t: bytes %v make report %x, want %x", kept, with, got, want)
				}
			}
		}
	}
}

// TestKeptByComparison checks both sides of the probability with which a report holds the answer.
func TestKeptByComparison(t *testing.T) {
	q := question(t, client.Set, "2", column("c", 2))
	for _, c := range []struct {
		x    int64
		kept bool
	}{{0, true}, {q.Keep - 1, true}, {q.Keep, false}, {certain - 1, false}} {
		if report := randomised(&q, 1, append(six(c.x), 0)); histogramtest.Holds(&q, report, 1) != c.kept {
			t.Errorf("%d of 2^48: kept %t, want %t", c.x, !c.kept, c.kept)
		}
	}
}

// TestQuestionsAreDrawnWithTheirChances checks both sides of the chances of all questions.
func TestQuestionsAreDrawnWithTheirChances(t *testing.T) {
	c := collectorOf(client.One, "1", question(t, client.Set, "1", column("a", 2)),
		question(t, client.Set, "1", column("b", 3)), question(t, client.Permuted, "1", column("c", 600)))
	c.Questions[0].Chance, c.Questions[1].Chance, c.Questions[2].Chance = 1, certain/4, certain/4*3-1
	asked := read(t, textOf(t, c))
	for _, want := range []struct {
		x    int64
		name string
	}{{0, "a"}, {1, "b"}, {certain / 4, "b"}, {certain/4 + 1, "c"}, {certain - 1, "c"}} {
		random := append(append(make([]byte, 16), six(want.x)...), stream("chances", 100)...)
		reports, err := asked.Respond(map[string]string{"a": "0", "b": "2", "c": "17"}, new(client.Memo),
			bytes.NewReader(random))
		if err != nil || len(reports) != 1 || reports[0].Question != want.name {
			t.Errorf("%d of 2^48 draws %v, want question %s: %v", want.x, reports, want.name, err)
		}
	}
}
