package scan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
)

// Queries whose factors are of several kinds are counted along all of them, and become integers along those alone that
// are no identities: as by the columns made here, from counts of the same rows.
func TestMixedQueriesAreCountedAndMeasured(t *testing.T) {
	p := planOf(t)
	kind, age := plan.Factor{Attribute: "kind", Basis: plan.Identity},
		plan.Factor{Attribute: "age", Basis: plan.Identity}
	optimal := plan.Factor{Attribute: "age", Basis: plan.Ranges, Sums: "prefixes", Kappa: "4"}
	halved := plan.Factor{Attribute: "age", Level: "band", Basis: plan.Ranges, Sums: "ranges", Method: "haar-laplace"}
	apart := plan.Factor{Attribute: "kind", Basis: plan.Residual}
	ten, err := residual.NewRanged(residual.Ranging{Sums: residual.Prefixes, Kappa: 4}, make([]int, 10))
	if err != nil {
		t.Fatal(err)
	}
	columns := []*residual.Column{residual.NewColumn(make([]int, 3)), ten}
	text := "age,kind\n"
	var counts [3][10]int64
	for i := range 500 {
		k, a := i%7%3, (i*i+i/3)%10
		counts[k][a]++
		text += fmt.Sprintf("%d,%c\n", a, 'a'+k)
	}
	crossed := make([]int64, 0, 30)
	for _, row := range counts {
		crossed = append(crossed, row[:]...)
	}
	exact := func(axes residual.Set, plain ...bool) []int64 {
		x, err := residual.Exact(columns, axes, plain, slices.Clone(crossed))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	both := residual.Set{{Column: 0, Level: 1}, {Column: 1, Level: 1}}
	// Of two bands one integer is left: 1024 times their difference.
	bands := make([]int64, 3)
	for k, row := range counts {
		for a, n := range row {
			bands[k] += (1 - 2*int64(a/5)) * 1024 * n
		}
	}
	var all []plan.Measurement
	var want [][]int64
	ask := func(integers []int64, factors ...plan.Factor) {
		all = append(all, plan.Measurement{ID: fmt.Sprint(len(all)),
			Query: plan.Query{Table: "persons", Factors: factors,
				Counted: counted.Rows{}}, Selection: selection.All{},
			Cells: int64(len(integers))})
		want = append(want, integers)
	}
	ask(crossed, kind, age)
	ask(exact(both, true, false), kind, optimal)
	ask(exact(both, false, false), apart, optimal)
	ask(exact(both, false, true), apart, age)
	ask(bands, kind, halved)
	got, err := countAll(p, all, 2, func(tally *tally) error {
		return tally.countFiles(context.Background(), source.Data{Dir: folder(t, "a.csv", text)}, streams(p, 1).Rows(),
			1<<30)
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		if !slices.Equal(got[i].Counts, want[i]) {
			t.Errorf("%v: %v, expected %v", m.Query.Factors, got[i].Counts, want[i])
		}
	}
	for i, n := range []int64{30, 30, 30, 30, 6} { // each before it becomes integers, exact and noisy
		once, twice := *p, *p
		once.Measurements, twice.Measurements = all[i:i+1], []plan.Measurement{all[i], all[i]}
		if got := memory.Bytes(&twice) - memory.Bytes(&once); got != 16*n {
			t.Errorf("%v: %d bytes, expected those of %d counts", all[i].Query.Factors, got, n)
		}
	}
	wrong := all[1]
	wrong.Cells = 30
	if _, err := countAll(p, []plan.Measurement{wrong}, 1, func(*tally) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "its factors give 27") {
		t.Errorf("30 cells of ranges: %v", err)
	}
}

// The counts of a table of millions of cells are narrow until they are asked for as something else: as residuals along
// one of its columns.
func TestCountsOfManyCellsAreNarrow(t *testing.T) {
	const side = 1500
	p := tripsPlan(t, "SIDE", fmt.Sprint(side))
	from, to := plan.Factor{Attribute: "from", Basis: plan.Identity}, plan.Factor{Attribute: "to", Basis: plan.Identity}
	apart := plan.Factor{Attribute: "from", Basis: plan.Residual}
	text, counts := strings.Builder{}, make([]int64, side*side)
	text.WriteString("from,to\n")
	for i := range 3000 {
		a, b := i*i%side, i%side
		if i%3 == 0 {
			a, b = 1, side-1
		}
		counts[a*side+b]++
		fmt.Fprintf(&text, "%d,%d\n", a+1, b+1)
	}
	flat := residual.NewColumn(make([]int, side))
	exact, err := residual.Exact([]*residual.Column{flat, flat},
		residual.Set{{Column: 0, Level: 1}, {Column: 1, Level: 1}}, []bool{false, true}, slices.Clone(counts))
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, "a.csv", text.String())
	for _, test := range []struct {
		factors []plan.Factor
		narrow  bool
		want    []int64
	}{{[]plan.Factor{from, to}, true, counts}, {[]plan.Factor{apart, to}, false, exact}} {
		m := plan.Measurement{ID: "od", Query: plan.Query{Table: "trips", Factors: test.factors,
			Counted: counted.Rows{}}, Selection: selection.All{},
			Cells: int64(len(test.want))}
		got, err := countAll(p, []plan.Measurement{m}, 2, func(tally *tally) error {
			return tally.countFiles(context.Background(), source.Data{Dir: dir}, streams(p, 1).Rows(), 1<<30)
		})
		if err != nil {
			t.Fatal(err)
		}
		if narrow := got[0].Compact != nil; narrow != test.narrow {
			t.Errorf("%v: narrow: %t", test.factors, narrow)
		}
		if !slices.Equal(got[0].Expanded().Counts, test.want) {
			t.Errorf("%v: counts are others", test.factors)
		}
	}
}
