package client_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// pointsOf returns, exactly, with which probability an answer gets each category: it feeds the client every byte that
// rounds it, and reads the category from a report that surely holds it.
func pointsOf(t *testing.T, q client.Question, answer int64) map[int64]*big.Rat {
	t.Helper()
	last := len(q.Columns[len(q.Columns)-1].Categories) - 1
	all, each := map[int64]*big.Rat{}, big.NewRat(1, int64(last))
	for x := range last {
		random := six(0)
		if last > 1 { // else nothing is drawn
			random = append([]byte{byte(x)}, random...)
		}
		report := randomised(&q, answer, random)
		if report == nil {
			t.Fatalf("answer %d by %x has no report", answer, random)
		}
		for v := range q.Categories {
			if histogramtest.Holds(&q, report, v) {
				if all[v] == nil {
					all[v] = new(big.Rat)
				}
				all[v].Add(all[v], each)
			}
		}
	}
	return all
}

// TestNumbersAreRoundedWithoutBias checks for every answer that the mean of the points is the number, exactly, and that
// it is rounded to the points next to it, of its own group.
func TestNumbersAreRoundedWithoutBias(t *testing.T) {
	for _, c := range []struct {
		groups, n int
		points    int64
	}{{1, 2, 2}, {1, 7, 2}, {1, 7, 3}, {1, 7, 7}, {1, 60, 7}, {2, 11, 4}, {3, 5, 2}} {
		columns := []client.Column{numbers("c", c.n, c.points)}
		if c.groups > 1 {
			columns = []client.Column{column("d", c.groups), columns[0]}
		}
		q := question(t, client.Set, "8", columns...)
		if q.Support != 1 {
			t.Fatalf("reports hold %d categories: which is the answer's is not seen", q.Support)
		}
		for answer := range int64(c.groups * c.n) {
			mean, number := new(big.Rat), big.NewRat(answer%int64(c.n), int64(c.n-1))
			for v, p := range pointsOf(t, q, answer) {
				point := big.NewRat(v%c.points, c.points-1)
				off := new(big.Rat).Sub(point, number)
				if v/c.points != answer/int64(c.n) || off.Abs(off).Cmp(big.NewRat(1, c.points-1)) >= 0 {
					t.Errorf("%+v: answer %d is rounded to category %d", c, answer, v)
				}
				mean.Add(mean, point.Mul(point, p))
			}
			if mean.Cmp(number) != 0 {
				t.Errorf("%+v: answer %d has mean %s, want %s", c, answer, mean, number)
			}
		}
	}
}

// TestNumbersCostNoMoreThanEpsilon lists all reports to questions for a number. The ratio of their probabilities under
// two answers is at most e^ε, and that of the ends of the range is what the randomiser's is.
func TestNumbersCostNoMoreThanEpsilon(t *testing.T) {
	for _, points := range []int64{2, 3, 4} {
		q := question(t, client.Set, "1", numbers("c", 7, points))
		of := question(t, client.Set, "1", column("c", int(points)))
		byCategory := make([]law, points)
		for v := range byCategory {
			byCategory[v] = lawOf(&of, int64(v))
		}
		sure := question(t, client.Set, "8", numbers("c", 7, points)) // is rounded as q is
		laws := make([]law, 7)
		for answer := range laws {
			laws[answer] = law{}
			for v, p := range pointsOf(t, sure, int64(answer)) {
				for report, chance := range byCategory[v] {
					laws[answer].add([]byte(report), new(big.Rat).Mul(p, chance))
				}
			}
		}
		largest := new(big.Rat)
		for _, a := range laws {
			for _, b := range laws {
				for report, p := range a {
					if ratio := new(big.Rat).Quo(p, b[report]); ratio.Cmp(largest) > 0 {
						largest = ratio
					}
				}
			}
		}
		want := local.Randomiser{Categories: q.Categories, Support: q.Support, Keep: q.Keep}.Ratio()
		if largest.Cmp(want) != 0 {
			t.Errorf("%d points: the largest ratio is %s, want %s", points, largest.FloatString(6), want.FloatString(6))
		}
	}
}

// TestNumbersAreMemoised answers with numbers again and again: each has one report, whatever points there are.
func TestNumbersAreMemoised(t *testing.T) {
	c := read(t, textOf(t, collectorOf(client.One, "1/2", question(t, client.Set, "1/2", numbers("c", 100, 2)))))
	memo, first := new(client.Memo), map[string]string{}
	for i := range 300 {
		number := fmt.Sprint(i * 7 % 100)
		got := bytesOf(respond(t, c, map[string]string{"c": number}, memo))
		if want, ok := first[number]; ok && got != want {
			t.Fatalf("number %s has report %x, and had %x", number, got, want)
		}
		first[number] = got
	}
	if memo.Spent() != "50" {
		t.Errorf("100 numbers cost ε = %s, want 50", memo.Spent())
	}
}
