package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"

	"github.com/dprelease/dprelease/plan/tree"
)

// This file holds the errors of a census: those of the published budget of a national one, on areas of equal size, by
// least squares over all levels, from the top down, and from the answers of each area alone.

// The attributes of the cells of a census: kinds of dwelling times minor or adult are the kinds; Hispanic origin and
// sets of races the attributes.
const (
	dwellings, ages = 8, 2
	hispanic        = tree.Axes(1)
	race            = tree.Axes(2)
)

// The numbers of categories of the two attributes.
var censusAttributes = []int{2, 63}

// censusLevel is a level of areas: how many each area of the level above has, and the standard deviations of the noise
// of the queries that are published with the budget of the 2020 census of the United States: of the total, of races, of
// each small table, and of the tables by Hispanic origin and race, age and race, all three, and all four attributes.
type censusLevel struct {
	name                                                   string
	areas                                                  int
	total, races, small, byOrigin, byAge, byBoth, detailed float64
}

var censusLevels = []censusLevel{
	{"state", 1, 1.10, 27.6, 27.6, 19.5, 19.5, 11.6, 4.45},
	{"county", 62, 2.17, 38.3, 38.3, 22.9, 22.9, 12.1, 4.42},
	{"tract", 27, 2.47, 34.6, 43.8, 2.23, 21.9, 12.0, 4.46},
	{"block group", 3, 1.75, 41.8, 41.8, 2.23, 24.1, 14.8, 2.02},
	{"block", 25, 89.2, 66.5, 89.2, 43.5, 43.5, 23.7, 3.18},
}

// queries returns what is asked of an area of the level.
func (l censusLevel) queries() []tree.Query {
	kinds := func(group func(dwelling, age int) int) []int {
		var out []int
		for d := range dwellings {
			for a := range ages {
				out = append(out, group(d, a))
			}
		}
		return out
	}
	one := kinds(func(int, int) int { return 0 })
	age := kinds(func(_, a int) int { return a })
	dwelling := kinds(func(d, _ int) int { return d })
	sort := kinds(func(d, _ int) int { return min(d, 1) + d/5 }) // household, institution, other
	all := kinds(func(d, a int) int { return d*ages + a })
	asked := func(groups []int, axes tree.Axes, deviation float64) tree.Query {
		return tree.Query{Groups: groups, Axes: axes, Variance: float64(deviation * deviation)}
	}
	return []tree.Query{asked(one, 0, l.total), asked(one, race, l.races), asked(one, hispanic, l.small),
		asked(age, 0, l.small), asked(sort, 0, l.small), asked(dwelling, 0, l.small), asked(age, hispanic, l.small),
		asked(one, hispanic|race, l.byOrigin), asked(age, race, l.byAge), asked(age, hispanic|race, l.byBoth),
		asked(all, hispanic|race, l.detailed)}
}

// censusTree returns a state of so many counties, whose areas all have these kinds, with the first area of each level.
func censusTree(possible tree.Kinds, counties int) (*tree.Tree, []int, error) {
	var classes [][]tree.Query
	for _, l := range censusLevels {
		classes = append(classes, l.queries())
	}
	areas, first := []tree.Area{{Parent: -1, Possible: possible}}, []int{0}
	for level, from := 1, 0; level < len(censusLevels); level++ {
		to := len(areas)
		first = append(first, to)
		each := censusLevels[level].areas
		if level == 1 {
			each = counties
		}
		for parent := from; parent < to; parent++ {
			for range each {
				areas = append(areas, tree.Area{Parent: parent, Class: level, Possible: possible})
			}
		}
		from = to
	}
	t, err := tree.New(tree.Cells{Kinds: dwellings * ages, Attributes: censusAttributes}, classes, areas)
	return t, first, err
}

var methodNames = []string{tree.LeastSquares: "least squares", tree.TopDown: "top down", tree.OwnAnswers: "own answers"}

// runCensus prints the mean absolute errors of the total and of one cell by Hispanic origin and race, by level.
func runCensus(ctx context.Context, stdout io.Writer) error {
	fmt.Fprintln(stdout, "Mean absolute error of an area's total / of one cell by Hispanic origin and race, before "+
		"counts are made whole: a state of 62 counties, each of 27 tracts of 3 block groups of 25 blocks")
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "areas\testimate")
	for _, l := range censusLevels[1:] {
		fmt.Fprintf(w, "\t%s", l.name)
	}
	fmt.Fprintln(w)
	for _, of := range []struct {
		name     string
		possible tree.Kinds
	}{{"all kinds of dwelling", tree.AllKinds(dwellings * ages)}, {"households alone", tree.AllKinds(ages)}} {
		t, first, err := censusTree(of.possible, censusLevels[1].areas)
		if err != nil {
			return err
		}
		for by, name := range methodNames {
			spread := t.Spread(tree.Method(by))
			fmt.Fprintf(w, "%s\t%s", of.name, name)
			for _, area := range first[1:] {
				total, cell, err := censusErrors(spread, area)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "\t%.4g / %.4g", total, cell)
			}
			fmt.Fprintln(w)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return simulateCensus(ctx, stdout)
}

// simulatedCounties are the counties of the state whose answers are simulated.
const simulatedCounties = 4

// simulateCensus prints the errors of estimates from simulated noise, as parts of what is expected: of all totals of a
// level together, for households alone.
func simulateCensus(ctx context.Context, stdout io.Writer) error {
	t, first, err := censusTree(tree.AllKinds(ages), simulatedCounties)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nRoot mean square error of totals from simulated noise, as part of what is expected, "+
		"%d counties:\n", simulatedCounties)
	for _, by := range []tree.Method{tree.LeastSquares, tree.TopDown} {
		spread := t.Spread(by)
		level, squares, areas := 0, make([]float64, len(censusLevels)), make([]float64, len(censusLevels))
		err := spread.Estimate(ctx, noiseAlone{t}, func(area int, cells []float64) error {
			for level+1 < len(first) && area >= first[level+1] {
				level++
			}
			var total float64
			for _, x := range cells {
				total += x
			}
			squares[level] += total * total
			areas[level]++
			return nil
		})
		if err != nil {
			return err
		}
		for i, l := range censusLevels[1:] {
			expected, _, err := censusErrors(spread, first[i+1])
			if err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%s, %s: %.3f\n", methodNames[by], l.name,
				math.Sqrt(squares[i+1]/areas[i+1]*2/math.Pi)/expected)
		}
	}
	return nil
}

// noiseAlone answers with noise, as if nobody lived anywhere: an estimate is its own error.
type noiseAlone struct{ *tree.Tree }

// Answer returns the same noise whenever it is asked.
func (n noiseAlone) Answer(area, query int) ([]int64, error) {
	q, size := n.QueryOf(area, query)
	r := rand.New(rand.NewPCG(uint64(area), uint64(query)))
	out := make([]int64, size)
	for i := range out {
		out[i] = int64(math.Round(r.NormFloat64() * math.Sqrt(q.Variance)))
	}
	return out, nil
}

// censusErrors returns the mean absolute errors of an area's total, and of one of its cells by Hispanic origin and
// race, of normal estimates.
func censusErrors(spread *tree.Spread, area int) (total, cell float64, err error) {
	all := make([]float64, dwellings*ages)
	for i := range all {
		all[i] = 1
	}
	var whole, one []tree.Part
	for _, n := range censusAttributes {
		whole, one = append(whole, tree.Whole(n)), append(one, tree.Category(n))
	}
	if total, err = spread.Variance(area, all, whole); err != nil {
		return 0, 0, err
	}
	if cell, err = spread.Variance(area, all, one); err != nil {
		return 0, 0, err
	}
	return math.Sqrt(total * 2 / math.Pi), math.Sqrt(cell * 2 / math.Pi), nil
}
