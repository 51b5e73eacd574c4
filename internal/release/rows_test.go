package release

import (
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/releasetest"
)

// Publishing reports how far it is: with the writing of all tables together, and which of them is written. It gives the
// same bytes whether or not somebody watches.
func TestProgressOfPublishing(t *testing.T) {
	m := releasetest.FlowMoney[0]
	o := releasetest.Flows(t, m.Money, m.Policy, m.Above)
	opt, _ := runRelease(t, o)
	var seen []progress.Progress
	opt.Out = t.TempDir()
	watched := progress.Watch(t.Context(), func(p progress.Progress) {
		if strings.HasPrefix(p.Step, "writing ") && strings.HasSuffix(p.Step, " tables") {
			seen = append(seen, p)
		}
	})
	if _, err := Publish(watched, MeasuredFolder(optionsOf(o, "out").Out, "trips"), opt); err != nil {
		t.Fatal(err)
	}
	again, err := Publish(t.Context(), MeasuredFolder(optionsOf(o, "out").Out, "trips"), opt)
	if err != nil || !again.AlreadyDone {
		t.Errorf("unwatched it is not the same: %+v, %v", again, err)
	}
	var steps []string
	for i, p := range seen {
		if p.Number != seen[0].Number || !p.Known || p.Confidential || i > 0 && p.Share < seen[i-1].Share {
			t.Errorf("%+v", seen)
		}
		steps = append(steps, p.Step)
	}
	want := []string{"writing 2 tables", "writing 1 of 2 tables", "writing 2 of 2 tables"}
	if got := slices.Compact(steps); !slices.Equal(got, want) || seen[len(seen)-1].Share != progress.Whole {
		t.Errorf("%+v", seen)
	}
}
