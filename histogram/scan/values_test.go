package scan

import (
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
	"pgregory.net/rapid"
)

// job is a row of the payroll. pay is in tenths, −1 where it is null.
type job struct {
	id                int
	size, region, age int // 2: a category that is not there
	pay, weight       int
}

// text is the row as its file has it.
func (j job) text() string {
	pay := ""
	if j.pay >= 0 {
		pay = fmt.Sprintf("%d.%d", j.pay/10, j.pay%10)
	}
	return fmt.Sprintf("%d,%s,%s,%d,%s,%d\n", j.id, [...]string{"small", "large", "none"}[j.size],
		[...]string{"n", "s", "e", "none"}[j.region], j.age, pay, j.weight)
}

// filesOf are jobs in files of so many rows.
func filesOf(jobs []job, each int) []string {
	var files []string
	for n, part := range slices.Collect(slices.Chunk(jobs, each)) {
		text := "id,size,region,age,pay,w\n"
		for _, j := range part {
			text += j.text()
		}
		files = append(files, fmt.Sprintf("%03d.csv", n), text)
	}
	if files == nil {
		files = []string{"000.csv", "id,size,region,age,pay,w\n"}
	}
	return files
}

// place is where a job's pay lies: in halves, rounded with halves up, and clamped.
func (j job) place() int64 {
	p := int64(j.pay*2+5) / 10
	return [...]int64{min(p, 6), min(max(p, 4), 12)}[j.size]
}

func (j job) steps() int64 { return int64(min(j.weight, 3)) }

// counted tells that no column leaves the job out.
func (j job) counted() bool { return j.size < 2 && j.region < 3 && j.pay >= 0 }

func by(attributes ...string) (factors []plan.Factor) {
	for _, a := range attributes {
		column, level, _ := strings.Cut(a, ".")
		factors = append(factors, plan.Factor{Attribute: column, Level: level, Basis: plan.Identity})
	}
	return factors
}

// asking is a query with what it comes to: the cell that a job is in, of so many cells in all, and what the job adds.
type asking struct {
	query  plan.Query
	cells  int64
	cell   func(j job) uint64
	adds   func(j job) int64
	group  func(j job) uint64 // of the allowance
	sparse bool
}

var (
	regionCell = func(j job) uint64 { return uint64(j.region) }
	halfCell   = func(j job) uint64 { return uint64(j.size*2 + j.region/2) }
	one        = func(job) int64 { return 1 }
	none       = func(job) uint64 { return 0 }
)

// askings are queries of every form.
func askings(most int64, u spec.PerUnit) []asking {
	strata := func(j job) int64 { return (2*j.place() - [...]int64{6, 16}[j.size]) * [...]int64{4, 3}[j.size] }
	withCap := u
	all := []asking{
		{query: plan.Query{Factors: by("size", "region.half"), Counted: counted.Rows{}}, cells: 4, cell: halfCell,
			adds: one},
		{query: plan.Query{Counted: counted.Values{Column: "pay", Power: 1, Times: 2, Minus: 13}}, cells: 1, cell: none,
			adds: func(j job) int64 { return 2*j.place() - 13 }},
		{query: plan.Query{Factors: by("region"), Counted: counted.Values{Column: "pay", Power: 2, Times: 1, Minus: 5}},
			cells: 3,
			cell:  regionCell,
			adds:  func(j job) int64 { return (j.place() - 5) * (j.place() - 5) }},
		{query: plan.Query{Factors: by("size", "region.half"),
			Counted: counted.Values{Column: "pay", Power: 1, Times: 2,
				Per: "size", By: []int64{4, 3}, Off: []int64{6, 16}, Weight: true}},
			cells: 4, cell: halfCell, adds: func(j job) int64 { return strata(j) * j.steps() }},
		{query: plan.Query{Factors: by("region"), Counted: counted.Values{Weight: true}, PerUnit: withCap}, cells: 3,
			cell: regionCell,
			adds: job.steps, group: regionCell},
		{query: plan.Query{Factors: by("size", "region.half"), Counted: counted.Rows{},
			PerUnit: spec.PerUnit{RowsPerGroup: 1}}, cells: 4,
			cell: halfCell, adds: one, group: halfCell},
		{query: plan.Query{Factors: by("size", "region.half"), Counted: counted.Rows{}, PerUnit: withCap}, cells: 4,
			cell: halfCell, adds: one, group: halfCell},
		{query: plan.Query{Factors: by("region"), Counted: counted.Distinct{Column: "pay", PerUnit: most}}, cells: 3,
			cell:  func(j job) uint64 { return uint64(j.region)*13 + uint64(j.place()) },
			group: func(j job) uint64 { return uint64(j.region)*13 + uint64(j.place()) }, adds: one},
		{query: plan.Query{Counted: counted.Distinct{Column: "age", PerUnit: 1}}, cells: 1,
			cell: func(j job) uint64 { return uint64(j.age) }, group: func(j job) uint64 { return uint64(j.age) },
			adds: one},
		{query: plan.Query{Factors: by("region"), Counted: counted.Quantiles{Column: "pay", At: []string{"1/4", "1/2"},
			Weight: true}}, cells: 6, sparse: true,
			cell: func(j job) uint64 { return uint64(j.region)*13 + uint64(j.place()) }, adds: job.steps},
		{query: plan.Query{Factors: by("size"), Counted: counted.Quantiles{Column: "pay", At: []string{"1/2"}},
			PerUnit: withCap}, cells: 2, sparse: true,
			cell:  func(j job) uint64 { return uint64(j.size)*13 + uint64(j.place()) },
			group: func(j job) uint64 { return uint64(j.size) }, adds: one},
	}
	inRegion := func(j job) uint64 { return uint64(j.region)*13 + uint64(j.place()) }
	all = append(all,
		asking{query: plan.Query{Factors: by("region"), Counted: counted.Bins{Column: "pay", Width: 3,
			Weight: true}}, cells: 3 * 5, sparse: true, cell: inRegion, adds: job.steps},
		asking{query: plan.Query{Factors: by("region"), Counted: counted.Bins{Column: "pay", Width: 2, Total: 5,
			Method: "haar-laplace"}, PerUnit: withCap}, cells: 3 * 7, sparse: true,
			cell: inRegion, group: regionCell, adds: one})
	beyond := func(j job) int64 { // what rounds to a place that is not its own
		if p := int64(j.pay*2+5) / 10; p != j.place() {
			return 1
		}
		return 0
	}
	all = append(all,
		asking{query: plan.Query{Factors: by("size"), Counted: counted.Values{Column: "pay", Beyond: true}}, cells: 2,
			cell: func(j job) uint64 { return uint64(j.size) }, adds: beyond},
		asking{query: plan.Query{Counted: counted.UnitsOver}, cells: 1},
		asking{query: plan.Query{Counted: counted.RowsOver},
			cells: 1}, asking{query: plan.Query{Counted: counted.RowsLeftOut}, cells: 1})
	for i := range all {
		all[i].query.Table = "jobs"
	}
	return all
}

// diagnosed is what a diagnostic comes to, by going through units of at most so many rows each.
func diagnosed(d counted.Diagnostic, jobs []job, unit func(i int) int, most int64) (sum int64) {
	kept, left := map[int]int64{}, map[int]int64{}
	for i, j := range jobs {
		if j.counted() {
			kept[unit(i)]++
		} else {
			left[unit(i)]++
		}
	}
	for _, n := range kept {
		switch {
		case d == counted.UnitsOver && n > most:
			sum++
		case d == counted.RowsOver:
			sum += min(max(n-most, 0), most)
		}
	}
	for _, n := range left {
		if d == counted.RowsLeftOut {
			sum += min(n, most)
		}
	}
	return sum
}

// measurementsOf are askings as a plan has them.
func measurementsOf(all []asking) []plan.Measurement {
	var out []plan.Measurement
	for i, a := range all {
		m := plan.Measurement{ID: fmt.Sprint("query ", i), Query: a.query, Cells: a.cells, Selection: selection.All{}}
		if a.query.Counted.Kind() == counted.KindQuantiles {
			m.Mechanism = budget.Mechanism{Kind: budget.ExponentialQuantiles, Parameter: big.NewRat(1, 4),
				L1:        big.NewInt(1),
				L2Squared: big.NewInt(1)}
		}
		out = append(out, m)
	}
	return out
}

// answered is what a tally has counted, with the rows that it counted them of.
type answered struct {
	tally *tally
	stay  []*bounding.KeptRows // by allowance; nil where each row is a unit
}

// answersTo scans files for queries. change may spoil the tally first.
func answersTo(t testing.TB, r *spec.Release, all []asking, key byte, workers int, memory int64, change func(*tally),
	files ...string) answered {
	t.Helper()
	dir := folder(t, files...)
	tally, err := newTally(r, r.Tables[0], measurementsOf(all), queriesOf(all), workers)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(tally)
	}
	s := noise.NewStreams(noise.Key{key}, "plan")
	if tally.table.Unit.Row {
		if err := tally.countFiles(t.Context(), source.Data{Dir: dir}, s.Rows(), memory); err != nil {
			t.Fatal(err)
		}
		return answered{tally: tally}
	}
	p, stay, err := tally.chooseAll(t.Context(), source.Data{Dir: dir}, s.Rows(), memory) // as scan does
	if err == nil {
		tally.answerDiagnostics(stay)
		err = tally.countRows(t.Context(), source.Data{Dir: dir}, p, stay, memory)
	}
	if err != nil {
		t.Fatal(err)
	}
	return answered{tally, stay}
}

// queriesOf are the queries that are asked.
func queriesOf(all []asking) (queries []plan.Query) {
	for _, a := range all {
		queries = append(queries, a.query)
	}
	return queries
}

// byCell is the answer to a query: the figures that are not 0, by cell. Of distinct values these are their numbers.
func (a answered) byCell(query int) map[uint64]int64 {
	out := map[uint64]int64{}
	q := a.tally.queries[query]
	for i, n := range q.Counts {
		cell := uint64(i)
		if q.Cells != nil {
			cell = q.Cells[i]
		}
		if n != 0 || q.Cells != nil {
			out[cell] = n
		}
	}
	return out
}

func (a asking) kind() counted.Kind { return a.query.Counted.Kind() }

// refer is what a query comes to over the jobs that stay.
func (a asking) refer(jobs []job, stays func(i int) bool) map[uint64]int64 {
	sums := map[uint64]int64{}
	for i, j := range jobs {
		if j.counted() && stays(i) && (a.adds(j) != 0 || !a.sparse) {
			sums[a.cell(j)] += a.adds(j)
		}
	}
	out := map[uint64]int64{}
	for cell, n := range sums {
		switch {
		case a.kind() == counted.KindDistinct && len(a.query.Factors) == 0:
			out[0]++
		case a.kind() == counted.KindDistinct:
			out[cell/13]++
		case n != 0 || a.sparse:
			out[cell] = n
		}
	}
	return out
}

func drawJobs(rt *rapid.T, most int) []job {
	units := rapid.IntRange(1, 12).Draw(rt, "units")
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) job {
		return job{id: rapid.IntRange(1, units).Draw(rt, "id"), size: rapid.SampledFrom([]int{0, 1, 0, 1, 2}).Draw(rt,
			"size"), region: rapid.SampledFrom([]int{0, 1, 2, 0, 3}).Draw(rt, "region"),
			age:    rapid.IntRange(0, 9).Draw(rt, "age"),
			pay:    rapid.SampledFrom([]int{-1, 0, 3, 7, 12, 13, 20, 28, 35, 57, 59, 60, 900}).Draw(rt, "pay"),
			weight: rapid.IntRange(0, 5).Draw(rt, "weight")}
	}), 0, most).Draw(rt, "jobs")
}

// TestQueriesOfEveryFormAreThoseOfGoingRowByRow holds every answer against a reference over the rows that stay, and the
// rows that stay against what their allowance says.
func TestQueriesOfEveryFormAreThoseOfGoingRowByRow(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rapid.Check(t, func(rt *rapid.T) {
		jobs := drawJobs(rt, 120)
		each := rapid.IntRange(1, 50).Draw(rt, "each")
		most := rapid.Int64Range(1, 6).Draw(rt, "max_rows")
		u := spec.PerUnit{Groups: rapid.Int64Range(0, 3).Draw(rt, "groups"),
			RowsPerGroup: rapid.Int64Range(0, 3).Draw(rt,
				"rows"), Total: rapid.Int64Range(0, 4).Draw(rt, "total")}
		unit := rapid.SampledFrom([]string{"row", fmt.Sprintf("{id: id, max_rows: %d}", most)}).Draw(rt, "unit")
		all := askings(rapid.Int64Range(1, 3).Draw(rt, "distinct"), u)
		memory := rapid.SampledFrom([]int64{0, 1 << 16, 1 << 28}).Draw(rt, "memory")
		got := answersTo(t, payrollRelease(t, unit), all, 1, rapid.IntRange(1, 4).Draw(rt, "workers"), memory, nil,
			filesOf(jobs, each)...)
		for i, a := range all {
			if d, ok := a.query.Counted.(counted.Diagnostic); ok {
				units, k := func(i int) int { return jobs[i].id }, most
				if unit == "row" {
					units, k = func(i int) int { return i }, 1
				}
				if want := diagnosed(d, jobs, units, k); got.tally.queries[i].Counts[0] != want {
					rt.Errorf("%s of %s: got %d, want %d", d, unit, got.tally.queries[i].Counts[0], want)
				}
				continue
			}
			allowed := got.tally.queries[i].allowance
			stays := func(row int) bool {
				return got.stay == nil || got.stay[allowed].PieceBits(row / each)[row%each/64]>>(row%each%64)&1 == 1
			}
			if want := a.refer(jobs, stays); fmt.Sprint(got.byCell(i)) != fmt.Sprint(want) {
				rt.Errorf("query %d of %s: got %v, want %v", i, unit, got.byCell(i), want)
			}
			if got.stay != nil {
				checkAllowance(rt, a, jobs, uint64(most), stays)
			}
		}
	})
}

// checkAllowance: of each unit stay as many rows as its caps leave, and no more.
func checkAllowance(rt *rapid.T, a asking, jobs []job, most uint64, stays func(row int) bool) {
	u := a.query.PerUnit
	c := bounding.Caps{Rows: capOf(u.Total), Groups: capOf(u.Groups), PerGroup: capOf(u.RowsPerGroup)}
	d, distinct := a.query.Counted.(counted.Distinct)
	if distinct {
		c = bounding.Caps{Rows: bounding.NoCap, Groups: uint64(d.PerUnit), PerGroup: bounding.NoCap}
	}
	all, rows, groups := map[int]uint64{}, map[int]uint64{}, map[int]map[uint64]uint64{}
	for i, j := range jobs {
		if !j.counted() {
			if stays(i) {
				rt.Errorf("a row that is left out stays")
			}
			continue
		}
		all[j.id]++
		if stays(i) {
			rows[j.id]++
			if groups[j.id] == nil {
				groups[j.id] = map[uint64]uint64{}
			}
			if a.group != nil {
				groups[j.id][a.group(j)]++
			}
		}
	}
	for id, n := range all {
		if rows[id] == 0 || rows[id] > min(most, c.Rows) || uint64(len(groups[id])) > c.Groups {
			rt.Errorf("%d rows of %d of a unit stay, in %d groups: %v, max_rows %d", rows[id], n, len(groups[id]), c,
				most)
		}
		if !distinct && c == bounding.Uncapped() && rows[id] != min(n, most) {
			rt.Errorf("%d rows of %d of a unit stay, max_rows %d", rows[id], n, most)
		}
		for _, in := range groups[id] {
			if in > c.PerGroup {
				rt.Errorf("%d rows of a group stay: %v", in, c)
			}
		}
	}
}

// keyedNumbers draws numbers below n, the same for one seed.
func keyedNumbers(seed int) func(n int) int {
	b := noise.NewStreams(noise.Key{byte(seed), 1}, "numbers").Rows().MadeUp("t")
	return func(n int) int { return int(b.Below(uint64(n))) }
}

// Breaches in columns that only tell groups apart are found, whichever reading meets them first, and nothing is said of
// the rows.
func TestBreachesAmongGroups(t *testing.T) {
	r := payrollRelease(t, "{id: id, max_rows: 2}")
	asked := []asking{{query: plan.Query{Table: "jobs", Factors: by("age.band"), Counted: counted.Rows{},
		PerUnit: spec.PerUnit{Groups: 1}},
		cells: 2}}
	for name, jobs := range map[string][]job{
		"one":               {{id: 1, pay: 1}, {id: 2, age: 77, pay: 1}},
		"of many":           slices.Repeat([]job{{id: 1, age: 3}, {id: 2, age: 77, pay: 1}}, 200),
		"beside one of all": {{id: 1, age: 88}, {id: 2, region: 3, age: 77}},
	} {
		tally, err := newTally(r, r.Tables[0], measurementsOf(asked), nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		err = tally.countFiles(t.Context(), source.Data{Dir: folder(t, filesOf(jobs, 90)...)},
			noise.NewStreams(noise.Key{1}, "p").Rows(),
			1<<28)
		var breach *ContractError
		if !errors.As(err, &breach) || breach.Column != "age" || breach.Kind != domain.OutOfDomain.String() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOrderOfRowsDoesNotMatter counts the same rows in another order and in other files: all answers are the same,
// under every bound and allowance.
func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		jobs := drawJobs(rt, 120)
		u := spec.PerUnit{Groups: rapid.Int64Range(0, 3).Draw(rt, "groups"),
			RowsPerGroup: rapid.Int64Range(0, 3).Draw(rt,
				"rows"), Total: rapid.Int64Range(0, 4).Draw(rt, "total")}
		unit := fmt.Sprintf("{id: id, max_rows: %d}", rapid.Int64Range(1, 6).Draw(rt, "max_rows"))
		all := askings(rapid.Int64Range(1, 3).Draw(rt, "distinct"), u)
		count := func(jobs []job) (out []map[uint64]int64) {
			got := answersTo(t, payrollRelease(t, unit), all, 1, rapid.IntRange(1, 4).Draw(rt, "workers"), 1<<28, nil,
				filesOf(jobs, rapid.IntRange(1, 50).Draw(rt, "each"))...)
			for i := range all {
				out = append(out, got.byCell(i))
			}
			return out
		}
		want := count(jobs)
		random := keyedNumbers(rapid.IntRange(0, 255).Draw(rt, "order"))
		for i := range jobs {
			j := i + random(len(jobs)-i)
			jobs[i], jobs[j] = jobs[j], jobs[i]
		}
		if got := count(jobs); fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Errorf("%s: in another order the answers are %v, not %v", unit, got, want)
		}
	})
}

// TestWhichQuestionsAreAskedDoesNotDecide counts each question of a plan alone: the same rows stay as where all are
// counted at once.
func TestWhichQuestionsAreAskedDoesNotDecide(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		jobs := drawJobs(rt, 120)
		r := payrollRelease(t, fmt.Sprintf("{id: id, max_rows: %d}", rapid.Int64Range(1, 4).Draw(rt, "max_rows")))
		all := askings(2, spec.PerUnit{})
		whole := answersTo(t, r, all, 1, 2, 1<<28, nil, filesOf(jobs, 30)...)
		dir, one := folder(t, filesOf(jobs, 30)...), rapid.IntRange(0, len(all)-1).Draw(rt, "question")
		tally, err := newTally(r, r.Tables[0], measurementsOf(all[one:one+1]), queriesOf(all), 2)
		if err == nil {
			err = tally.countFiles(t.Context(), source.Data{Dir: dir}, noise.NewStreams(noise.Key{1}, "plan").Rows(),
				1<<28)
		}
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := (answered{tally: tally}).byCell(0), whole.byCell(one); fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Errorf("question %d: got %v alone, and %v with others", one, got, want)
		}
	})
}
