package release

import (
	"testing"

	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/releasetest"
)

// Publishing says how far it is, of all tables together.
func TestProgressOfPublishing(t *testing.T) {
	m := releasetest.FlowMoney[0]
	o := releasetest.Flows(t, m.Money, m.Policy, m.Above)
	opt, _ := runRelease(t, o)
	var seen []progress.Progress
	opt.Out, opt.Progress = t.TempDir(), func(p progress.Progress) { seen = append(seen, p) }
	if _, err := Publish(t.Context(), MeasuredFolder(optionsOf(o, "out").Out, "trips"), opt); err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 || seen[0].Table != "tables" || !seen[0].Writing || seen[0].Part != 1 || seen[0].Parts != 2 ||
		seen[0].Rows < int64(len(releasetest.LargeFlows)) || seen[0].Total < seen[0].Rows+24 {
		t.Errorf("%+v", seen)
	}
}
