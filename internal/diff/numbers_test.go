package diff

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/screen"
)

// TestNumbersOfTwoReleasesAreTold compares two draws, and one draw with a revision of it.
func TestNumbersOfTwoReleasesAreTold(t *testing.T) {
	o := releasetest.With(t, releasetest.PayText("{rho: 1}", true, ""), releasetest.PayPolicy,
		releasetest.PayData(releasetest.PayRows()))
	opt, place := publishedtest.Run(t, o)
	opt.Revision = release.Revision{Number: 2, Reason: "clearer labels"}
	revised, err := release.Publish(t.Context(), place+".measured", opt)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Of(t.Context(), place, revised.Folder, planfile.Read)
	if err != nil {
		t.Fatal(err)
	}
	all := d.Releases.Tables[0]
	if !d.Releases.SameMeasurements || len(all.Figures) != len(o.Plan.Tables[0].Figures) || all.changedFigures() != 0 ||
		all.Figures[0].Compared == 0 {
		t.Errorf("a revision: %+v", all)
	}
	other := releasetest.With(t, releasetest.PayText("{rho: 1}", true, ""), releasetest.PayPolicy,
		releasetest.PayData(releasetest.PayRows()))
	_, second := publishedtest.Run(t, other)
	d, err = Of(t.Context(), place, second, planfile.Read)
	if err != nil {
		t.Fatal(err)
	}
	all = d.Releases.Tables[0]
	if d.Releases.SameMeasurements || len(all.Figures) != len(o.Plan.Tables[0].Figures) ||
		all.Statistics[0].Margin < 1 {
		t.Errorf("another draw: %+v", all)
	}
	compared := int64(0)
	for _, table := range d.Releases.Tables {
		for _, f := range table.Figures {
			compared += f.Compared
			// each of two intervals misses 1 in 20
			if math.Abs(f.Expected-0.1*float64(f.Compared)) > 1e-9*f.Expected || f.Changed > f.Compared {
				t.Errorf("intervals of two draws: %+v", f)
			}
		}
	}
	if compared == 0 {
		t.Error("no intervals were compared")
	}
	var page strings.Builder
	if err := d.Write(&page, screen.Look{Columns: 10_000}); err != nil ||
		!strings.Contains(page.String(),
			fmt.Sprintf("Of %s whose error has no law", budget.Plural(compared, "figure"))) {
		t.Errorf("%v: %s", err, &page)
	}
}
