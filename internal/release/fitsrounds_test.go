package release

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

// TestTheReportTellsOfEveryRound: what the report says of sets of columns is what the rounds have measured, as their
// file and the files of their answers have it: every set as often as it was chosen, single columns too, with the least
// of its noise.
func TestTheReportTellsOfEveryRound(t *testing.T) {
	o := releasetest.With(t, releasetest.AIMSpec, releasetest.WalkPolicy, releasetest.WalkRows())
	_, place := runRelease(t, o)
	b, err := os.ReadFile(filepath.Join(place, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	method := o.Plan.Synthetic[0]
	v, _ := sealedOf(t, place)
	chosen, least := map[string]int{}, map[string]float64{}
	for _, round := range v.Rounds[0].All {
		var names []string
		for _, column := range adaptive.Candidates(method)[round.Choice] {
			names = append(names, method.By[column].String())
		}
		set := strings.Join(names, " with ")
		deviation := math.Sqrt(round.Measured.Measurement.Mechanism.Variance())
		if chosen[set]++; chosen[set] == 1 || deviation < least[set] {
			least[set] = deviation
		}
	}
	told := 0
	for _, s := range r.Microdata[0].Sets {
		if s.Before {
			continue
		}
		told += s.Measured
		if s.Measured != chosen[s.Name(language.English)] {
			t.Errorf("%s was measured %d times, of which the report tells %d", s.Name(language.English),
				chosen[s.Name(language.English)], s.Measured)
		}
		if s.Measured > 0 && s.StandardError > least[s.Name(language.English)]*(1+1e-9) {
			t.Errorf("%s has a standard error of %g, and was measured with %g", s.Name(language.English),
				s.StandardError, least[s.Name(language.English)])
		}
	}
	if rounds := len(v.Rounds[0].All); told != rounds || r.Microdata[0].Made != rounds {
		t.Errorf("the report tells of %d rounds, says %d, and there were %d: %v", told, r.Microdata[0].Made, rounds,
			chosen)
	}
	before := slices.DeleteFunc(slices.Clone(r.Microdata[0].Sets), func(s report.Set) bool { return !s.Before })
	if len(before) != len(method.By) {
		t.Errorf("%d columns are said to be measured before the rounds, of %d", len(before), len(method.By))
	}
}
