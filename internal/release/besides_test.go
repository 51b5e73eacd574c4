package release

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds releases of microdata of a table some of whose marginals publish a selection of their cells.

// TestMicrodataOfATableWithSelectedCells goes all the way by every method and under both relations: the microdata have
// the listed columns that they name and follow how these depend on each other, every other table is what it is without
// them, all of it verifies, and what reads a release reads it.
func TestMicrodataOfATableWithSelectedCells(t *testing.T) {
	for i, of := range [][2]string{{"add-remove", "mst"}, {"replace", "tables"}, {"replace", "mst"},
		{"replace", "aim"}} {
		t.Run(of[0]+" "+of[1], func(t *testing.T) {
			releasetest.SkipLong(t, i > 1)
			o := releasetest.Shop(t, of[0], of[1])
			opt, place := runRelease(t, o)
			assertVerifies(t, place, verify.Options{})
			names, rows := rowsOf(t, place, "t")
			if !slices.Equal(names, []string{"side", "hour"}) {
				t.Fatalf("microdata have the columns %v", names)
			}
			fit := 0
			for _, r := range rows {
				if odd := r[1].Int64()%2 == 1; odd == (r[0].String() == "right") {
					fit++
				}
			}
			// 1351 rows. Noise has a standard error below 20 in each of 8 cells.
			if len(rows) < 1100 || len(rows) > 1600 || fit < len(rows)*9/10 {
				t.Errorf("%d rows, %d of which have an hour of their side", len(rows), fit)
			}
			checkShop(t, o, place)
			checkNoCanary(t, o.Dir)
			opt.Out = filepath.Join(o.Dir, "private")
			if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// checkShop holds the tables of selected cells against the rows.
func checkShop(t *testing.T, o releasetest.Office, place string) {
	t.Helper()
	for _, path := range []string{"words", "busy", "large"} {
		at := slices.IndexFunc(o.Plan.Tables, func(one plan.Table) bool { return one.Path == path })
		deviation := o.Plan.Tables[at].Statistics[0].StandardError
		by, statistic := o.Plan.Tables[at].By, o.Plan.Tables[at].Statistics[0].Name
		want := map[string]map[string]int{
			"words": {"right ink": 300, "left tea": 600},
			"busy":  {"7 left": 900, "7 right": 450},
			"large": {"7": 1350},
		}[path]
		found := 0
		for _, row := range releasetest.Figures(t, place, path, append(slices.Clone(by), statistic)...) {
			n, known := want[strings.Join(row[:len(by)], " ")]
			value, _ := strconv.Atoi(row[len(by)])
			if !known {
				continue // the third of the chosen ones
			}
			found++
			if d := value - n; float64(max(d, -d)) > 12*deviation {
				t.Errorf("%s: %v counts %d, and noise has a standard error of %g", path, row, n, deviation)
			}
		}
		if found != len(want) {
			t.Errorf("%s has %d of %d groups", path, found, len(want))
		}
	}
}

// TestMicrodataWithSelectedCellsResume: a run that is cut off in its rounds resumes to the same bytes, and is debited
// once.
func TestMicrodataWithSelectedCellsResume(t *testing.T) {
	o := releasetest.Shop(t, "add-remove", "mst")
	opt := optionsOf(o, "out")
	crashAfterRounds(t, o, opt)
	crashed := o.Copied(t)
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	finishedAlike(t, crashed, releasetest.Contents(t, MeasuredFolder(opt.Out, "trips")),
		releasetest.Contents(t, filepath.Join(opt.Out, "trips")))
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits", n)
	}
}

// TestSelectedCellsOfLinkedTables: microdata of households and their members are what they are without them where both
// tables have words that nobody listed and chosen cells, in a rehearsal too, and a word of one household alone is in no
// file.
func TestSelectedCellsOfLinkedTables(t *testing.T) {
	files := releasetest.Homes("mst", "mst")
	for i, file := range []string{"h.csv", "p.csv"} {
		lines := strings.Split(strings.TrimSpace(files[file]), "\n")
		lines[0] += ",word"
		for n := range lines[1:] {
			lines[n+1] += []string{",home", ",person"}[i]
		}
		lines[7] = lines[7][:strings.LastIndex(lines[7], ",")] + ",canary-word"
		files[file] = strings.Join(lines, "\n") + "\n"
	}
	word := "word: {values: {discover: {max_length: 20}}, unknown: drop}, "
	files["release.yaml"] = strings.NewReplacer(
		"{rho: 40,", "{epsilon: 40, delta: 1e-9,", "columns: {age", "columns: {"+word+"age", "columns: {area",
		"columns: {"+
			word+"area",
		"budget: tables}}\n", "budget: tables}, homes: {table: households, by: [word], stats: [units], budget: tables}, "+
			"common: {table: persons, by: [age, sex], top: 2, budget: tables}, names: {table: persons, by: [word, "+
			"sex], stats: [units], per_unit: {groups: 2}, budget: tables}}\n",
		"parent: households,", "by: [age, sex], parent: households,", "{budget: homes,",
		"{by: [area, tenure, half], budget: homes,",
	).Replace(files["release.yaml"])
	files["policy.yaml"] = strings.Replace(files["policy.yaml"], "rho: 400", "rho: 400, delta: 1e-6", 1)
	o := releasetest.Of(t, files)
	_, place := runRelease(t, o)
	assertVerifies(t, place, verify.Options{})
	households, persons, right := checkHomes(t, place)
	// 600 households and 900 persons, of which a leaf has a tenth: noise has a σ below 10 in a cell.
	if households < 450 || households > 750 || persons < 700 || persons > 1100 || right < persons*8/10 {
		t.Errorf("%d households with %d persons, of whom %d are as they are", households, persons, right)
	}
	for path, want := range map[string]string{"homes": "[home]", "names": "[person f] [person m]"} {
		by := map[string][]string{"homes": {"word"}, "names": {"word", "sex"}}[path]
		var have []string
		for _, row := range releasetest.Figures(t, place, path, by...) {
			have = append(have, fmt.Sprint(row))
		}
		if got := strings.Join(have, " "); got != want {
			t.Errorf("%s has the groups %s, expected %s", path, got, want)
		}
	}
	for name, text := range releasetest.Contents(t, place) {
		if strings.Contains(text, "canary-") {
			t.Errorf("%s holds a word of one household alone", name)
		}
	}
	if _, err := Rehearse(t.Context(), o.Plan, 200, optionsOf(o, "tried")); err != nil {
		t.Errorf("a rehearsal: %v", err)
	}
}

// TestSelectedCellsAndMicrodataAddUpToTheBudget: the leaves add up to what is charged, and each measurement, choice,
// selection and round is in the leaf that pays for it, which gives no more than its share.
func TestSelectedCellsAndMicrodataAddUpToTheBudget(t *testing.T) {
	for _, method := range []string{"mst", "aim", "tables"} {
		p := releasetest.Shop(t, "replace", method).Plan
		sum, leaves := new(big.Rat), map[string]*big.Rat{}
		add := func(leaf string, m budget.Mechanism) {
			if leaves[leaf] == nil {
				leaves[leaf] = new(big.Rat)
			}
			leaves[leaf].Add(leaves[leaf], m.Rho())
			sum.Add(sum, m.Rho())
		}
		for _, m := range p.Measurements {
			add(m.Leaf, m.Mechanism)
			if top, ok := m.Selection.(selection.Top); ok {
				for range top.Of {
					add(m.Leaf, top.Select)
				}
			}
			if groups, ok := m.Selection.(selection.Groups); ok { // as often as the mechanism of one group is run
				for _, step := range groups.Steps() {
					add(m.Leaf, step)
				}
			}
		}
		for _, s := range p.Synthetic {
			if s.Adaptive() {
				add(s.Leaf, s.Block)
			}
		}
		for _, l := range p.Leaves {
			if leaves[l.Path].Cmp(l.Amount.Rho) > 0 {
				t.Errorf("%s: leaf %s pays %s and has %s", method, l.Path, leaves[l.Path].FloatString(9),
					l.Amount.Rho.FloatString(9))
			}
		}
		if sum.Cmp(p.Cost.Rho) > 0 || p.Cost.Delta == nil || p.Cost.Delta.Cmp(big.NewRat(1, 4_000_000_000)) != 0 {
			t.Errorf("%s: mechanisms add up to ρ %s, and charged are %s", method, sum.FloatString(9), p.Cost)
		}
		// The part that rounding towards more noise leaves.
		if left := new(big.Rat).Sub(p.Cost.Rho, sum); left.Cmp(big.NewRat(1, 10_000)) > 0 {
			t.Errorf("%s: ρ %s is charged and not spent", method, left.FloatString(9))
		}
	}
}
