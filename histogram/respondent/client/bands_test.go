package client_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// forms returns the forms of a question of n ordered categories, in two groups: by category and in bands of 2 and 4. A
// device draws one of them.
func forms(t *testing.T, epsilon string, n int) *client.Collector {
	t.Helper()
	questions := []client.Question{question(t, client.Set, epsilon, column("c", n))}
	for _, width := range []int64{2, 4} {
		q := question(t, client.Set, epsilon, bands("c", n, width))
		q.Name = fmt.Sprint("c/", width)
		questions = append(questions, q)
	}
	return read(t, textOf(t, collectorOf(client.One, epsilon, questions...)))
}

// TestFormsCostNoMoreThanEpsilon lists everything that a device can send: the form that it draws, and the report. The
// largest ratio of the probabilities under two answers is the largest e^ε of a randomiser.
func TestFormsCostNoMoreThanEpsilon(t *testing.T) {
	for _, n := range []int{5, 7, 8} {
		c := forms(t, "1", n)
		laws := make([]law, n)
		for answer := range laws {
			laws[answer] = law{}
			for i := range c.Questions {
				q := &c.Questions[i]
				v, err := q.Answer(map[string]string{"c": fmt.Sprint(answer)})
				if err != nil {
					t.Fatal(err)
				}
				for report, p := range lawOf(q, v) {
					laws[answer].add([]byte(q.Name+":"+report), new(big.Rat).Mul(p, big.NewRat(q.Chance, certain)))
				}
			}
		}
		largest, want := new(big.Rat), new(big.Rat)
		for _, a := range laws {
			for _, b := range laws {
				for sent, p := range a {
					if ratio := new(big.Rat).Quo(p, b[sent]); ratio.Cmp(largest) > 0 {
						largest = ratio
					}
				}
			}
		}
		for _, q := range c.Questions {
			r := local.Randomiser{Categories: q.Categories, Support: q.Support, Keep: q.Keep}.Ratio()
			if r.Cmp(want) > 0 {
				want = r
			}
		}
		if largest.Cmp(want) != 0 {
			t.Errorf("%d categories: the largest ratio is %s, want %s", n, largest.FloatString(9), want.FloatString(9))
		}
	}
}

// TestAnswersOfABandHaveOneReport answers again and again: all answers of a band have one report, which costs ε once.
func TestAnswersOfABandHaveOneReport(t *testing.T) {
	q := question(t, client.Set, "1/2", column("d", 2), bands("c", 10, 4))
	c := read(t, textOf(t, collectorOf(client.One, "1/2", q)))
	memo, first := new(client.Memo), map[string]string{}
	for i := range 40 {
		d, answer := fmt.Sprint(i%2), i/2*7%10
		got := bytesOf(respond(t, c, map[string]string{"c": fmt.Sprint(answer), "d": d}, memo))
		band := fmt.Sprint(d, answer/4)
		if want, ok := first[band]; ok && got != want {
			t.Fatalf("answer %d has report %x, and its band %x", answer, got, want)
		}
		first[band] = got
	}
	if memo.Spent() != "3" {
		t.Errorf("6 bands cost ε = %s, want 3", memo.Spent())
	}
}
