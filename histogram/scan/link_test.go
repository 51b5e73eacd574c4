package scan

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/parquet-go/parquet-go"
)

// homesText is a release of households, and of persons and cars that belong to them.
const homesText = `version: 1
release: homes
privacy: {protects: household, neighbours: NEIGHBOURS}
budget: {rho: 1, split: {tables: 1/4, homes: 1/4, people: 1/4, cars: 1/4}}
tables:
  cars: {source: {csv: c.csv}, unit: {id: hh, max_rows: 1}, columns: {fuel: {values: [p, q]}, kind: {values: [s, l]}}}
  persons: {source: {csv: p.csv}, unit: {id: hh, max_rows: 2, null: drop}, columns: {sex: {values: [f, m]}, age: {values: [y, o], unknown: drop}}}
  households: {source: {csv: h.csv}, unit: {id: hh, max_rows: 1}, where: "area != 'w'", columns: {tenure: {values: [o, r], unknown: drop}, area: {values: [x, y, z, w], levels: {half: {xy: [x, y], zw: [z, w]}}}}}
marginals: {sexes: {table: persons, by: [sex], budget: tables}, tenures: {table: households, by: [tenure], budget: tables}}
synthetic:
  persons: {budget: people, parent: households}
  households: {budget: homes, by: [tenure, area.half]}
  cars: {budget: cars, parent: households, size: n_cars}
`

func homesPlan(t testing.TB, neighbours string) *plan.Plan {
	t.Helper()
	return planOfText(t, strings.Replace(homesText, "NEIGHBOURS", neighbours, 1))
}

// home is what the tables hold of one unit.
type home struct {
	id                        string
	households, persons, cars []string // rows behind the id
}

// homesFolder writes the tables.
func homesFolder(t testing.TB, all []home) string {
	t.Helper()
	h, p, c := "hh,tenure,area\n", "hh,sex,age\n", "hh,fuel,kind\n"
	for round := range 6 { // a unit's rows are not side by side
		for _, one := range all {
			for to, rows := range map[*string][]string{&h: one.households, &p: one.persons, &c: one.cars} {
				if round < len(rows) {
					*to += one.id + "," + rows[round] + "\n"
				}
			}
		}
	}
	return folder(t, "h.csv", h, "p.csv", p, "c.csv", c)
}

// Rows of Parquet files, whose ids are integers.
type (
	householdRow struct {
		HH           *int64 `parquet:"hh,optional"`
		Tenure, Area string
	}
	personRow struct {
		HH       *int64 `parquet:"hh,optional"`
		Sex, Age string
	}
	carRow struct {
		HH         *int64 `parquet:"hh,optional"`
		Fuel, Kind string
	}
)

// homesParquet writes the tables as Parquet, and returns the plan that reads them.
func homesParquet(t testing.TB, neighbours string, all []home) (*plan.Plan, string) {
	t.Helper()
	var h []householdRow
	var p []personRow
	var c []carRow
	for _, one := range all {
		var id *int64
		if n, err := strconv.ParseInt(one.id, 10, 64); err == nil {
			id = &n
		}
		for _, row := range one.households {
			a, b, _ := strings.Cut(row, ",")
			h = append(h, householdRow{id, a, b})
		}
		for _, row := range one.persons {
			a, b, _ := strings.Cut(row, ",")
			p = append(p, personRow{id, a, b})
		}
		for _, row := range one.cars {
			a, b, _ := strings.Cut(row, ",")
			c = append(c, carRow{id, a, b})
		}
	}
	dir := t.TempDir()
	if err := errors.Join(parquet.WriteFile(filepath.Join(dir, "h.parquet"), h),
		parquet.WriteFile(filepath.Join(dir, "p.parquet"), p), parquet.WriteFile(filepath.Join(dir, "c.parquet"),
			c)); err != nil {
		t.Fatal(err)
	}
	capitals := strings.NewReplacer("NEIGHBOURS", neighbours, "{csv: h.csv}", "{parquet: h.parquet}", "{csv: p.csv}",
		"{parquet: p.parquet}", "{csv: c.csv}", "{parquet: c.parquet}",
		"area != ", "Area != ", "{tenure: {", "{tenure: {from: Tenure, ", "area: {", "area: {from: Area, ", "sex: {",
		"sex: {from: Sex, ", "age: {", "age: {from: Age, ", "fuel: {", "fuel: {from: Fuel, ", "kind: {",
		"kind: {from: Kind, ")
	return planOfText(t, capitals.Replace(homesText)), dir
}

// everything is the exact counts of all that may be asked, by question.
func everything(e allCounts) (all [][]int64) {
	for _, a := range e.answers {
		all = append(all, a.Expanded().Counts)
	}
	return all
}

// naive is what all questions count, by rows as maps of attributes to texts: of each unit the first rows up to its
// bound.
func naive(t *testing.T, p *plan.Plan, all []home) (counts [][]int64) {
	t.Helper()
	rows := map[string][]map[string]string{}
	for _, one := range all {
		var own map[string]string
		for _, row := range one.households {
			if tenure, area, _ := strings.Cut(row, ","); area != "w" && (tenure == "o" || tenure == "r") && own == nil {
				own = map[string]string{"tenure": tenure, "area": area}
			}
		}
		if own == nil {
			continue // neither a household, nor what belongs to one
		}
		children := func(table, first, second, size string, rowsOf []string, good func(string) bool, most int) {
			var kept []map[string]string
			for _, row := range rowsOf {
				if a, b, _ := strings.Cut(row, ","); good(b) && len(kept) < most && one.id != "" {
					kept = append(kept, map[string]string{first: a, second: b})
				}
			}
			own[size] = fmt.Sprint(len(kept))
			for _, row := range kept {
				for _, given := range []string{"tenure", "area", size} {
					row["households."+given] = own[given]
				}
			}
			rows[table] = append(rows[table], kept...)
		}
		children("persons", "sex", "age", "persons", one.persons, func(age string) bool {
			return age == "y" ||
				age == "o"
		},
			2)
		children("cars", "fuel", "kind", "n_cars", one.cars, func(string) bool { return true }, 1)
		rows["households"] = append(rows["households"], own)
	}
	asked := questions(t, p)
	for _, m := range asked {
		levels, err := m.Query.Levels(p.Release())
		if err != nil {
			t.Fatal(err)
		}
		of := make([]int64, m.Cells)
		for _, row := range rows[m.Query.Table] {
			cell := 0
			for i, f := range m.Query.Factors {
				text := row[f.Attribute]
				if f.Level == "half" {
					text = map[string]string{"x": "xy", "y": "xy", "z": "zw"}[text]
				}
				code := slices.IndexFunc(levels[i].Categories, func(c domain.Category) bool { return c.Code == text })
				if code < 0 {
					t.Fatalf("%s: no category %q of %s", m.ID, text, f)
				}
				cell = cell*levels[i].Size() + code
			}
			of[cell]++
		}
		counts = append(counts, of)
	}
	return counts
}

// Every marginal of single columns and every candidate counts what a naive join counts: with duplicates, rows that are
// left out, rows of no unit, rows without a parent row, parents without children, and more rows than a unit may have.
func TestLinkedRowsEqualANaiveJoin(t *testing.T) {
	p := homesPlan(t, "add-remove")
	random := keyedNumbers(1)
	for _, prefix := range []string{"", "household "} { // ids that are integers, and longer ones
		all := []home{
			{id: "1", households: []string{"o,x", "o,x"}, persons: []string{"f,y", "f,y", "f,y"},
				cars: []string{"p,s"}},
			{id: "2", households: []string{"r,z"}},
			{id: "3", persons: []string{"m,o"}, cars: []string{"q,l"}},
			{id: "4", households: []string{"z,x"}, persons: []string{"m,o"}, cars: []string{"q,l"}},
			{id: "5", households: []string{"o,w", "z,y", "r,y"}, persons: []string{"m,o", "m,z", "f,o"},
				cars: []string{"q,l", "q,l"}},
			{id: "6", households: []string{"o,w"}, persons: []string{"m,o"}},
			{id: "7", households: []string{"o,z"}, persons: []string{"m,z", "f,z"}},
			{id: "", persons: []string{"m,o", "f,y"}},
		}
		for id := range 40 {
			h := []string{"o", "r"}[random(2)] + "," + []string{"x", "y", "z"}[random(3)]
			one := home{id: fmt.Sprint(100 + id), households: []string{h}}
			for range random(3) {
				one.persons = append(one.persons, []string{"f", "m"}[random(2)]+","+[]string{"y", "o"}[random(2)])
			}
			all = append(all, one)
		}
		for i := range all {
			if all[i].id != "" {
				all[i].id = prefix + all[i].id
			}
		}
		p, dir := p, homesFolder(t, all)
		if prefix == "" {
			p, dir = homesParquet(t, "add-remove", all)
		}
		e := exactOf(t, p, dir, 1)
		want := naive(t, p, all)
		asked := questions(t, p)
		for i, got := range everything(e) {
			if !slices.Equal(got, want[i]) {
				t.Errorf("%q: %s counts %v, want %v", prefix, asked[i].ID, got, want[i])
			}
		}
	}
}

// contents are what a unit may have in the tables: many of all small ones.
func contents() (all []home) {
	for _, h := range [][]string{nil, {"o,x"}, {"r,x"}, {"o,x", "r,z"}, {"z,x"}} {
		for i, p := range [][]string{nil, {"f,y"}, {"f,y", "f,y"}, {"f,y", "m,o", "m,o"}, {"f,z", "m,y"}} {
			all = append(all, home{"77", h, p, [][]string{nil, {"p,s", "q,l"}, {"q,l"}}[(len(h)+i)%3]})
		}
	}
	return all
}

// pastCharge is by how much the shift of a question's counts is beyond what its mechanism is made for, 0 or less where
// it is not.
func pastCharge(a, b []int64, m plan.Measurement) int64 {
	l1, l2 := int64(0), int64(0)
	for i := range a {
		d := a[i] - b[i]
		l1, l2 = l1+max(d, -d), l2+d*d
	}
	return max(l1-m.Mechanism.L1.Int64(), l2-m.Mechanism.L2Squared.Int64())
}

// countHomes counts all questions of units, with a link that may be spoilt.
func countHomes(t *testing.T, p *plan.Plan, asked []plan.Measurement, spoil func(*link), all ...home) [][]int64 {
	t.Helper()
	return countIn(t, p, asked, homesFolder(t, all), nil, spoil)
}

// countIn counts all questions of the tables in a folder, with tallies that may be changed and a link that may be
// spoilt.
func countIn(t *testing.T, p *plan.Plan, asked []plan.Measurement, dir string, change func(*tally),
	spoil func(*link)) [][]int64 {
	t.Helper()
	s := streams(p, 3)
	var spoilt *link
	counts, err := countAll(p, asked, 1, func(tally *tally) error {
		if change != nil {
			change(tally)
		}
		if err := tally.link.readAll(t.Context(), source.Data{Dir: dir}, s.Rows(), 1<<28); err != nil {
			return err
		}
		if spoil != nil && spoilt != tally.link {
			spoilt = tally.link
			spoil(spoilt)
		}
		return tally.countFiles(t.Context(), source.Data{Dir: dir}, s.Rows(), 1<<28)
	})
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]int64, len(counts))
	for i, c := range counts {
		out[i] = c.Expanded().Counts
	}
	return out
}

// questionsOfHomes are all that may be asked.
func questionsOfHomes(t *testing.T, neighbours string) (*plan.Plan, []plan.Measurement) {
	t.Helper()
	p := homesPlan(t, neighbours)
	asked := questions(t, p)
	return p, asked
}

// TestUnitsMoveLinkedTablesByWhatTheyMay is the sensitivity by brute force. What is counted of units is the sum of what
// is counted of each alone, whatever they have: so a unit that comes or goes moves the counts by its own, and one that
// takes the place of another by the difference of the two. No marginal and no candidate moves further than is charged,
// which some do.
func TestUnitsMoveLinkedTablesByWhatTheyMay(t *testing.T) {
	p, asked := questionsOfHomes(t, "replace")
	var alone [][][]int64
	var all []home
	sum := make([][]int64, len(asked))
	for n, one := range contents() {
		one.id = fmt.Sprint(n)
		counted := countHomes(t, p, asked, nil, one)
		for i, counts := range counted {
			if sum[i] == nil {
				sum[i] = make([]int64, len(counts))
			}
			for cell, n := range counts {
				sum[i][cell] += n
			}
		}
		alone, all = append(alone, counted), append(all, one)
	}
	for i, together := range countHomes(t, p, asked, nil, all...) {
		if !slices.Equal(together, sum[i]) {
			t.Errorf("%s: units together count %v, and each alone %v in all", asked[i].ID, together, sum[i])
		}
	}
	for _, neighbours := range []string{"add-remove", "replace"} {
		_, asked := questionsOfHomes(t, neighbours)
		worst := int64(-1 << 60)
		for i, m := range asked {
			for j, a := range alone {
				if worst = max(worst, pastCharge(a[i], make([]int64, len(a[i])), m)); neighbours == "replace" {
					for _, b := range alone[:j] {
						worst = max(worst, pastCharge(a[i], b[i], m))
					}
				}
			}
		}
		if worst != 0 {
			t.Errorf("%s: a unit moves a question by %d more than is charged, and is to reach it", neighbours, worst)
		}
	}
}

// Rows that find the parent row of another unit move further than they may, and so do sizes that rows of other units
// enter.
func TestMistakesInLinksAreNoticed(t *testing.T) {
	for name, spoil := range map[string]func(*link){
		"the parent row of another unit": func(l *link) {
			owner := "90"
			if _, there := l.shardOfText("77").byText["77"]; there {
				owner = "77"
			}
			shard := l.shardOfText(owner)
			from := int(shard.byText[owner]) * l.stride // other households may share the shard
			codes := slices.Clone(shard.codes[from : from+l.stride])
			for i := range l.shards {
				for to := l.shards[i].codes; len(to) > 0; to = to[l.stride:] {
					copy(to, codes)
				}
			}
		},
		"sizes of all units together": sizesOfAll(3),
	} {
		p, asked := questionsOfHomes(t, "add-remove")
		others := []home{
			{"5", []string{"o,x"}, []string{"f,y", "m,y", "m,o"}, []string{"p,s"}},
			{"90", []string{"r,y"}, []string{"m,o"}, nil},
		}
		without := countHomes(t, p, asked, spoil, others...)
		with := countHomes(t, p, asked, spoil, append([]home{{"77", []string{"o,x"}, []string{"f,y", "m,o"}, nil}},
			others...)...)
		worst := int64(-1 << 60)
		for i, m := range asked {
			worst = max(worst, pastCharge(with[i], without[i], m))
		}
		if worst <= 0 {
			t.Errorf("%s: nobody would notice, the excess is %d", name, worst)
		}
	}
}

// sizesOfAll spoils a link: every household has the persons of all, modulo a number.
func sizesOfAll(modulus uint32) func(*link) {
	return func(l *link) {
		total := uint32(0)
		for i := range l.shards {
			for of := l.shards[i].sizes; len(of) > 0; of = of[2:] {
				total += of[1]
			}
		}
		for i := range l.shards {
			for to := l.shards[i].sizes; len(to) > 0; to = to[2:] {
				to[1] = total % modulus
			}
		}
	}
}

// A size says how many rows bounding keeps, and never more than a unit may have.
func TestSizesStopAtTheBound(t *testing.T) {
	l := &link{children: make([]*tally, 2)}
	l.shards[3].sizes = make([]uint32, 4)
	rows := []unitSlot{1 + 3, 0, 1 + 3, 1 + 3, 1 + 3, 1 + 3 + linkShards}
	l.countChildRows(1, rows, nil, 3)
	l.countChildRows(0, rows, []uint64{0b1}, 3)
	l.countChildRows(0, rows, []uint64{0b011111}, 3)
	if want := []uint32{3, 3, 2, 1}; !slices.Equal(l.shards[3].sizes, want) {
		t.Errorf("sizes are %v, want %v", l.shards[3].sizes, want)
	}
}

// What is counted does not depend on workers, pieces or where a unit's rows stand.
func TestLinkedCountsDependOnRowsAlone(t *testing.T) {
	p := homesPlan(t, "replace")
	h, persons, c := "hh,tenure,area\n", []string{"hh,sex,age\n", "hh,sex,age\n", "hh,sex,age\n"}, "hh,fuel,kind\n"
	for id := range 3000 {
		h += fmt.Sprintf("%d,%s,x\n", id*7, []string{"o", "r"}[id%2])
		for j := range id % 5 {
			persons[j%3] += fmt.Sprintf("%d,f,%s\n", id*7, []string{"y", "o"}[j%2])
		}
	}
	dir := folder(t, "h.csv", h, "p.csv", strings.Join([]string{persons[0], persons[1][11:], persons[2][11:]}, ""),
		"c.csv", c)
	var first [][]int64
	for _, workers := range []int{1, 2} {
		e := countBy(t, p, Files{Dir: dir, Options: Options{Workers: workers}}, streams(p, 1))
		if all := everything(e); first == nil {
			first = all
		} else if !slices.EqualFunc(first, all, slices.Equal) {
			t.Errorf("%d workers count otherwise", workers)
		}
		// Of 3000 households a fifth each has none, one, and two or more persons in three parts.
		if got := answerOf(e, "microdata/households/persons"); !slices.Equal(got, []int64{600, 600, 1800}) {
			t.Errorf("sizes are %v", got)
		}
		if got := answerOf(e, "microdata/persons/households.persons"); !slices.Equal(got, []int64{0, 600, 3600}) {
			t.Errorf("sizes of the households of persons are %v", got)
		}
	}
}

// Ids of two types never meet, which is a breach of the contract and not an empty link, and so are ids of a type that
// is none; whichever rows of the parent count. No value is named.
func TestIdsOfParentsAndChildrenAreOfOneType(t *testing.T) {
	parquetOf := strings.NewReplacer("NEIGHBOURS", "replace", "{csv: h.csv}", "{parquet: h.parquet}", "{tenure: {",
		"{tenure: {from: Tenure, ", "area: {", "area: {from: Area, ", "area != ", "Area != ")
	inexact := strings.NewReplacer("{csv: p.csv}", "{parquet: p.parquet}", "sex: {", "sex: {from: Sex, ", "age: {",
		"age: {from: Age, ")
	for _, household := range []string{"o,x", "o,w"} { // one that counts, and one that is outside
		_, integers := homesParquet(t, "replace", []home{{id: "1", households: []string{household}}})
		dir := folder(t, "p.csv", "hh,sex,age\n1,f,y\n", "c.csv", "hh,fuel,kind\n")
		type row struct {
			HH       float64 `parquet:"hh"`
			Sex, Age string
		}
		if err := errors.Join(os.Rename(filepath.Join(integers, "h.parquet"), filepath.Join(dir, "h.parquet")),
			parquet.WriteFile(filepath.Join(dir, "p.parquet"), []row{{1, "f", "y"}})); err != nil {
			t.Fatal(err)
		}
		text := parquetOf.Replace(homesText)
		for file, c := range map[string]struct{ text, says string }{
			"p.csv":     {text, "another type here than in the table whose rows these belong to"},
			"p.parquet": {inexact.Replace(text), "cannot identify units exactly"},
		} {
			p := planOfText(t, c.text)
			err := errorOf(t, p, Files{Dir: dir})
			var fault *source.Error
			if !errors.As(err, &fault) || fault.Kind != source.WrongType || filepath.Base(fault.File) != file ||
				fault.Column != "hh" || !strings.Contains(fault.Message, c.says) {
				t.Errorf("%s, household %s: %v", file, household, err)
			}
		}
	}
}

// A link that does not fit the memory is refused, without a number of units.
func TestLinksStayWithinTheMemory(t *testing.T) {
	p := homesPlan(t, "replace")
	h := "hh,tenure,area\n"
	for id := range 3000 {
		h += fmt.Sprintf("%d,o,x\n", id)
	}
	dir := folder(t, "h.csv", h, "p.csv", "hh,sex,age\n", "c.csv", "hh,fuel,kind\n")
	have := memory.Bytes(p) + 1<<18
	err := errorOf(t, p, Files{Dir: dir, Options: Options{MemoryLimit: have}})
	var short *memory.Error
	if !errors.As(err, &short) || short.Need != 0 || short.Have != have-memory.Bytes(p) {
		t.Errorf("%v", err)
	}
	if err := errorOf(t, p, Files{Dir: dir, Options: Options{MemoryLimit: memory.Bytes(p) + 1<<20}}); err != nil {
		t.Errorf("%v", err)
	}
}

// What all questions of linked tables lose together is within the charge: both tables' mechanisms are in it.
func TestLinkedTablesAreChargedTogether(t *testing.T) {
	p := homesPlan(t, "replace")
	spent := new(big.Rat)
	for _, m := range p.Mechanisms() {
		spent.Add(spent, m.Rho())
	}
	if spent.Cmp(p.Cost.Rho) > 0 {
		t.Errorf("the mechanisms have ρ %s, the charge is %s", spent.FloatString(6), p.Cost.Rho.FloatString(6))
	}
	for i, s := range p.Synthetic {
		if times := map[string]int64{"households": 2, "persons": 4, "cars": 2}[s.Table]; s.Noise.L1.Int64() != times {
			t.Errorf("the rounds of %s, number %d, are charged for %s rows", s.Table, i, s.Noise.L1)
		}
	}
}

// Rows without a parent row are left out of all that is counted of their table as if they were not in its file,
// whatever is counted and however units are bounded; a diagnostic alone tells of them.
func TestOrphansAreAsIfTheyWereNotThere(t *testing.T) {
	text := strings.NewReplacer("NEIGHBOURS", "replace", "sexes: {table: persons, by: [sex],",
		"sexes: {table: persons, by: [sex], stats: [count, units], per_unit: {groups: 1},",
		"budget: {rho: 1, split: {tables: 1/4,", "diagnostics: {share: 5%}\nbudget: {rho: 1, split: {tables: 1/4,").
		Replace(homesText)
	p := planOfText(t, text)
	random := keyedNumbers(7)
	var all, without []home
	orphans := 0
	for id := range 60 {
		one := home{id: fmt.Sprint(id), households: []string{"o,x"}}
		for range random(5) {
			one.persons = append(one.persons, []string{"f", "m"}[random(2)]+","+[]string{"y", "o"}[random(2)])
		}
		bare := one
		if id%3 == 0 {
			one.households, bare.households, bare.persons = nil, nil, nil
			orphans += min(len(one.persons), 2)
		}
		all, without = append(all, one), append(without, bare)
	}
	a, b := exactOf(t, p, homesFolder(t, all), 5), exactOf(t, p, homesFolder(t, without), 5)
	for i, m := range p.Measurements {
		got, want := slices.Clone(a.answers[i].Counts), b.answers[i].Counts
		if m.Query.Counted == counted.Counted(counted.RowsLeftOut) && m.Query.Table == "persons" {
			got[0] -= int64(orphans)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s counts %v, and %v without rows that have no parent", m.ID, got, want)
		}
	}
	if total(answerOf(a, "microdata/persons/sex")) == 0 || orphans < 20 {
		t.Fatal("there is nothing to count")
	}
}

// Rows that are made up hang together as others do: there are as many of a child as their parents say, with their
// columns.
func TestMadeUpRowsAreLinked(t *testing.T) {
	p := homesPlan(t, "replace")
	e := countBy(t, p, MadeUp{Rows: 500}, streams(p, 1))
	sizes, tenures := answerOf(e, "microdata/households/persons"), answerOf(e, "microdata/households/tenure")
	if total(sizes) != 500 || total(tenures) != 500 || slices.Min(sizes) < 100 {
		t.Fatalf("%v households by persons, %v by tenure", sizes, tenures)
	}
	want := make([]int64, len(sizes))
	for n, households := range sizes {
		want[n] = int64(n) * households
	}
	if got := answerOf(e, "microdata/persons/households.persons"); !slices.Equal(got, want) {
		t.Errorf("%v persons by the persons of their household, expected %v of %v households", got, want, sizes)
	}
	if got := total(answerOf(e, "microdata/persons/sex")); got != total(want) {
		t.Errorf("%d persons, expected %d", got, total(want))
	}
	if got := answerOf(e, "microdata/cars/households.n_cars"); got[0] != 0 ||
		got[1] != answerOf(e, "microdata/households/n_cars")[1] {
		t.Errorf("%v cars by the cars of their household, of %v", got, answerOf(e, "microdata/households/n_cars"))
	}
}
