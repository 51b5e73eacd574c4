package release

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// This file has holders release everything that adds up, and compares it with the rows of all.

// kindsSpec has every statistic that adds up over holders.
const kindsSpec = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove, account: persons}
budget: BUDGET
tables:
  t:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 2}
WEIGHT    columns:
      area: {values: [n, e, s], levels: {half: {upper: [n, e], lower: [s]}}}
      sex: {values: [f, m]}
      age: {type: integer, range: [0, 19], levels: {band: {width: 5}}}
      pay: {type: decimal, step: 0.5, range: [0, 20]}
      staff: {type: integer, range: [1, 9]}
marginals:
  pays:
    by: [area]
    stats: [count, UNITS{sum: pay}, {mean: pay}, {variance: pay}, {deviation: pay}, {median: pay},
      {quantiles: pay, at: [10%, 90%]}, {ratio: {sum: pay, over: {sum: staff}}, as: rate},
      {ratio: {of: {sex: f}, over: {sex: [f, m]}}, as: women},
      {ratio: {of: {mean: pay, where: {sex: f}}, over: {mean: pay, where: {sex: m}}}, as: gap}, share]
  halves: {by: [area.half, age.band]}
  pairs: {by: [area, sex, age.band], every: [1, 2]}
  groups: {by: [sex], per_unit: {groups: 1}}
MORE`

// kindsSettings are the releases: their budgets, and what they have beyond the others.
var kindsSettings = []struct{ name, money, weight, units, more string }{
	{"pure, cumulative, consistent, with microdata", "{epsilon: 20}", "", "units, ",
		"  ages: {by: [age], cumulative: [age]}\npublish: {integers: consistent}\n" +
			"synthetic: {t: {by: [area, sex, age.band], method: tables}}\n"},
	{"ε and δ, with diagnostics", "{epsilon: 20, delta: 1e-9}", "", "units, ", "diagnostics: {share: 5%}\n"},
	{"weighted", "{epsilon: 20}", "    weight: {from: w, range: [0.5, 2], step: 0.5, kind: design}\n", "", ""},
}

// kindsRows are the rows of one holder.
func kindsRows(holder int) string {
	source, rows := rand.New(rand.NewPCG(uint64(holder), 1)), strings.Builder{}
	rows.WriteString("who,area,sex,age,pay,staff,w\n")
	for who := range 1500 {
		for range 1 + who%2 {
			fmt.Fprintf(&rows, "%d.%d,%s,%s,%d,%g,%d,%g\n", holder, who, []string{"n", "e", "s"}[source.IntN(3)],
				[]string{"f", "m"}[source.IntN(2)], source.IntN(20), float64(source.IntN(41))/2, 1+source.IntN(9),
				float64(1+source.IntN(4))/2)
		}
	}
	return rows.String()
}

// kindsTolerances are, by figure, ten times the mean error that its noise leads to.
var kindsTolerances = map[string]float64{"units": 10, "pay_sum": 400, "pay_mean": 0.3, "pay_variance": 4,
	"pay_deviation": 0.4,
	"pay_median":    1, "pay_q10": 1, "pay_q90": 1, "rate": 0.1, "women": 0.05, "gap": 0.1, "share": 0.02}

// TestEverythingThatAddsUp goes all the way with two holders, and holds what is published against the rows of both.
// An error that is 16 times its deviation has a probability below 2e-10; what one of two holders adds is hundreds of
// times.
func TestEverythingThatAddsUp(t *testing.T) {
	testkit.SkipPassed(t)
	for _, s := range kindsSettings {
		t.Run(s.name, func(t *testing.T) {
			text := strings.NewReplacer("BUDGET", s.money, "WEIGHT", s.weight, "UNITS", s.units, "MORE",
				s.more).Replace(kindsSpec)
			f := newFederation(t, trustText{2, 1, "disjoint"}, text)
			_, first, _ := strings.Cut(kindsRows(0), "\n")
			f.give(t, 0, kindsRows(0))
			f.give(t, 1, kindsRows(1))
			f.put(t, "pooled/t.csv", kindsRows(1)+first)
			place := f.release(t)
			o := Options{Out: filepath.Join(f.dir, "private"), Data: filepath.Join(f.dir, "pooled"),
				Ledger: f.options(0).Ledger}
			if err := evaluateTo(t.Context(), f.plan, place, o); err != nil {
				t.Fatal(err)
			}
			figures := 0
			for _, table := range readEvaluation(t, o.Out).Tables {
				t.Logf("%s: RMSE %.3g, by the noise %.3g; %.2f of the intervals hold, by the law %.4f", table.Path,
					table.RMSE,
					table.Predicted, table.Coverage, table.Attained)
				if table.Path != "groups" && table.RMSE > 16*table.Predicted { // of whose units some rows are left out
					t.Errorf("%s: RMSE %g, and the noise has %g", table.Path, table.RMSE, table.Predicted)
				}
				for _, figure := range table.Figures {
					most, ok := kindsTolerances[figure.Name]
					if figures++; !ok || figure.MeanError > most || figure.Withheld > 0 {
						t.Errorf("%s of %s is off by %g, expected at most %g; %d are withheld", figure.Name, table.Path,
							figure.MeanError, most, figure.Withheld)
					}
				}
			}
			if figures < 11 {
				t.Errorf("%d figures", figures)
			}
			if strings.Contains(s.more, "synthetic") {
				checkKindsAddUp(t, place)
			}
		})
	}
}

// checkKindsAddUp holds published integers against each other, and the microdata against the tables that they are
// made from.
func checkKindsAddUp(t *testing.T, place string) {
	t.Helper()
	areas := sumsOf(t, place, "pays", "area")
	assertEqualSums(t, "areas of pairs", areas, sumsOf(t, place, "pairs/area_x_sex", "area"))
	halves := map[string]int64{"upper": areas["n"] + areas["e"], "lower": areas["s"]}
	assertEqualSums(t, "halves", halves, sumsOf(t, place, "halves", "area.half"))
	assertEqualSums(t, "bands", sumsOf(t, place, "halves", "age.band"),
		sumsOf(t, place, "pairs/sex_x_age.band", "age.band"))
	_, rows := rowsOf(t, place, "t")
	if n := int64(len(rows)); n < 4400 || n > 4600 { // of 4500
		t.Errorf("%d rows of microdata", n)
	}
}
