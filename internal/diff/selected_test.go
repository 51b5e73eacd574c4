package diff

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/describe"
)

// TestDiffOfGroups compares the groups that two releases have.
func TestDiffOfGroups(t *testing.T) {
	_, a := publishedtest.Run(t, releasetest.Words(t, "add-remove", "1"))
	_, b := publishedtest.Run(t, releasetest.Words(t, "add-remove", "1"))
	d, err := Of(t.Context(), a, b, planfile.Read)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Releases.Tables[0]; c.Refused != "" || !c.Some || c.Compared != int64(len(releasetest.LargeWords)) ||
		c.Statistics[0].Name != "units" {
		t.Errorf("the groups compare as %+v", c)
	}
	if n := (editions{t, ""}).flukes(a, b); n > 0 {
		t.Errorf("noise alone changed %d groups", n)
	}
}

// TestDiffTellsAnotherThreshold compares two plans, and refuses to compare cells.
func TestDiffTellsAnotherThreshold(t *testing.T) {
	m := releasetest.FlowMoney[0]
	before, after := releasetest.Flows(t, m.Money, m.Policy, "50"), releasetest.Flows(t, m.Money, m.Policy, "55")
	text := &strings.Builder{}
	if err := describe.Diff(before.Plan, after.Plan).Write(text); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"published above", "50", "55",
		"cells without a row that are expected to be published"} {
		if !strings.Contains(text.String(), says) {
			t.Errorf("the difference of the plans does not say %q:\n%s", says, text)
		}
	}
	_, a := publishedtest.Run(t, before)
	_, b := publishedtest.Run(t, after)
	d, err := Of(t.Context(), a, b, planfile.Read)
	if err != nil {
		t.Fatal(err)
	}
	c, declared := d.Releases.Tables[0], float64(before.Plan.Tables[0].Cells)
	if c.Refused != "" || !c.Some || c.Compared == 0 || d.Releases.Tests < declared || d.Releases.Tests > declared+
		float64(d.Releases.Cells) {
		t.Errorf("cells above thresholds compare as %+v, among %g", c, d.Releases.Tests)
	}
	if n := (editions{t, ""}).flukes(a, b); n > 0 {
		t.Errorf("noise alone changed %d cells", n)
	}
}

// TestDiffOfTopReleases compares two plans, and the cells that both releases have chosen.
func TestDiffOfTopReleases(t *testing.T) {
	m := releasetest.BusyMoney[0]
	before, after := releasetest.Busy(t, m.Money, m.Policy, "add-remove"),
		releasetest.Busy(t, m.Money, m.Policy, "replace")
	text := &strings.Builder{}
	if err := describe.Diff(before.Plan, after.Plan).Write(text); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"sensitivity of the choice", "in one direction", "in either direction",
		"shortfall of the choice"} {
		if !strings.Contains(text.String(), says) {
			t.Errorf("the difference of the plans does not say %q:\n%s", says, text)
		}
	}
	_, a := publishedtest.Run(t, before)
	_, b := publishedtest.Run(t, after)
	d, err := Of(t.Context(), a, b, planfile.Read)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Releases.Tables[0]; c.Refused != "" || !c.Some || c.Compared != 4 || c.OnlyBefore+c.OnlyAfter != 0 ||
		c.Statistics[0].Margin < 1 {
		t.Errorf("the chosen cells compare as %+v", c)
	}
	if n := (editions{t, ""}).flukes(a, b); n > 0 {
		t.Errorf("noise alone changed %d cells", n)
	}
}
