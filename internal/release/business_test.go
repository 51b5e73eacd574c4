package release

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verify"
)

// This file holds the business survey: firms that are joined to a public register, under pure ε.

// company is a firm of the survey. Some are not in the register, and some report more than their size class has.
type company struct {
	nace, size      string
	turnover, staff int
}

var sizeRanges = map[string]struct{ turnover, least, most int }{
	"micro": {2e6, 0, 9}, "small": {1e7, 10, 49}, "medium": {5e7, 50, 249}, "large": {1e9, 250, 20000},
}

// companies returns so many firms: of each size half as many as of the size below.
func companies(n int) []company {
	all := make([]company, n)
	for i := range all {
		size := []string{"micro", "micro", "micro", "micro", "micro", "micro", "micro", "micro", "small", "small",
			"small",
			"small", "medium", "medium", "large"}[i%15]
		r := sizeRanges[size]
		share := float64(i*7919%n) / float64(n) // evenly spread, in no order
		staff := r.least + int(share*float64(r.most-r.least))
		all[i] = company{nace: []string{"01", "02", "05", "06", "10"}[i/15%5], size: size, staff: staff,
			turnover: staff*40_000 + 1000*(i%500)}
	}
	return all
}

// clamped is a firm as it is counted.
func (c company) clamped() company {
	r := sizeRanges[c.size]
	c.turnover = min((c.turnover+500)/1000*1000, r.turnover)
	c.staff = min(max(c.staff, r.least), r.most)
	return c
}

// TestTheBusinessSurveyRunsFromEndToEnd runs a shared spec as it stands, but for the format of its source and the
// budget of the second run. Under ε = 4 its figures are held to their own intervals, and under ε = 1000 to those of the
// rows: there the noise of a sum has a scale below a thousandth of the largest turnover, and a cell has eighty firms or
// more.
func TestTheBusinessSurveyRunsFromEndToEnd(t *testing.T) {
	text, err := os.ReadFile(testkit.Shared(t, "specs/business.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 6000
	firms := companies(n)
	var rows, register strings.Builder
	rows.WriteString("ent_id,nace,turnover,staff\n")
	register.WriteString("ent_id,name,size,since\n")
	for i, c := range firms {
		fmt.Fprintf(&rows, "%d,%s,%d,%d\n", i, c.nace, c.turnover, c.staff)
	}
	for i := range n + n/10 { // the register has more firms than the survey
		fmt.Fprintf(&register, "%d,\"Firm, No %d\",%s,19%d\n", i, i, firms[i%n].size, i%100)
	}
	spec := strings.Replace(string(text), "{parquet: abs/2025.parquet}", "{csv: t.csv}", 1)
	files := map[string]string{
		"policy.yaml": "account: business-register\nprotects: enterprise\nneighbours: replace\n" +
			"cap: {epsilon: 1000000000}\n",
		"t.csv": rows.String(), "register.csv": register.String(),
		"nace2.csv": "division,label,section,section_label\n01,Crops,A,Agriculture\n02,Forestry,A,Agriculture\n" +
			"05,Coal,B,Mining\n06,Oil,B,Mining\n10,Food,C,Manufacturing\n",
	}
	for budget, exactly := range map[string]bool{"epsilon: 4": false, "epsilon: 1000": true} {
		t.Run(budget, func(t *testing.T) {
			files["release.yaml"] = strings.Replace(spec, "epsilon: 4", budget, 1)
			o := releasetest.Of(t, files)
			if held := o.Plan.Source.Files["register.csv"]; strings.Contains(held, "Firm") ||
				!strings.HasPrefix(held, "ent_id,size\n0,micro\n") {
				t.Errorf("the plan holds %.60q of the register", held)
			}
			_, place := runRelease(t, o)
			assertVerifies(t, place, verify.Options{})
			path := filepath.Join(place, "tables", "turnover.parquet")
			at, covered, cells := int64(0), 0, 0
			for _, section := range []string{"01 02", "05 06", "10"} {
				for _, size := range []string{"micro", "small", "medium", "large"} {
					var own []company
					for _, c := range firms {
						if c.size == size && strings.Contains(section, c.nace) {
							own = append(own, c.clamped())
						}
					}
					sum := 0.0
					for _, c := range own {
						sum += float64(c.turnover)
					}
					slices.SortFunc(own, func(a, b company) int { return cmp.Compare(a.turnover, b.turnover) })
					for name, want := range map[string]float64{
						"count": float64(len(own)), "turnover_sum": sum, "turnover_mean": sum / float64(len(own)),
						"turnover_median": float64(own[(len(own)-1)/2].turnover),
					} {
						got := readFigure(t, path, at, name)
						if got.flag != "unbounded" && (got.value == nil || got.low == nil) {
							t.Errorf("%s of %s, %s: none, %s", name, section, size, got.flag)
							continue
						}
						if got.low == nil {
							continue // any value of the range may be the median of so few
						}
						if cells++; *got.low <= want && want <= *got.high {
							covered++
						}
						within := 1e-2
						if name == "turnover_median" {
							within = 5e-2 // a few ranks off, in cells of eighty to a thousand firms
						}
						if exactly && math.Abs(*got.value-want) > within*want {
							t.Errorf("%s of %s, %s: %v, want %v", name, section, size, *got.value, want)
						}
						if testing.Verbose() {
							t.Logf("%-8s %-7s %-16s %14.0f, of the rows %14.0f, in %14.0f … %14.0f %s", section, size,
								name, *got.value,
								want, *got.low, *got.high, got.flag)
						}
					}
					at++
				}
			}
			// Each holds it with 95 % or more, and a sum and its mean miss together: 2A + B + C of twelve cells, where
			// each of A, B and C is binomial, is 14 or more with a chance below 1e-6.
			if covered < cells-13 {
				t.Errorf("%d of %d intervals hold the figure of the rows", covered, cells)
			}
			for at, section := range []string{"01 02", "05 06", "10"} {
				var turnover, staff float64
				for _, c := range firms {
					if strings.Contains(section, c.nace) {
						turnover, staff = turnover+float64(c.clamped().turnover), staff+float64(c.clamped().staff)
					}
				}
				got, want := readFigure(t, filepath.Join(place, "tables", "per_head.parquet"), int64(at),
					"turnover_per_head"),
					turnover/staff
				if got.value == nil || exactly && math.Abs(*got.value-want) > 1e-2*want || !exactly &&
					math.Abs(*got.value-want) > want {
					t.Errorf("turnover per head in %s: %v, want %v", section, valueOf(got.value), want)
				}
				if testing.Verbose() {
					t.Logf("per head %s: %v, of the rows %v", section, valueOf(got.value), want)
				}
			}
			if exactly {
				return
			}
			rehearsed, err := Rehearse(t.Context(), o.Plan, 1000, optionsOf(o, "rehearsal"))
			if err != nil {
				t.Fatal(err)
			}
			if rows := releasetest.Figures(t, rehearsed, "turnover", "size"); len(rows) != 12 {
				t.Errorf("%d rows of a rehearsal", len(rows))
			}
		})
	}
	t.Run("a firm that is not registered", func(t *testing.T) {
		files["release.yaml"] = spec
		files["t.csv"] = "ent_id,nace,turnover,staff\n1,01,5,5\n123456,01,5,5\n"
		o := releasetest.Of(t, files)
		_, err := Run(t.Context(), o.Plan, optionsOf(o, "out"))
		var breach *scan.ContractError
		if !errors.As(err, &breach) || breach.Column != "size" || strings.Contains(err.Error(), "123456") {
			t.Errorf("got %v", err)
		}
	})
}
