package diff

import (
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
)

// A comparison of two releases says that it leaves microdata out.
func TestDiffLeavesMicrodataOut(t *testing.T) {
	o := releasetest.Walks(t)
	var places []string
	for _, out := range []string{"a", "b"} {
		opt := publishedtest.Options(o, out)
		opt.Ledger = "" // each on a practice account of its own
		result, err := release.Run(t.Context(), o.Plan, opt)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, result.Folder)
	}
	_, page := editions{t: t}.diff(places[0], places[1])
	if !strings.Contains(page, "Microdata of t: not compared.") {
		t.Errorf("the page says nothing of microdata:\n%s", page)
	}
	d, err := Of(t.Context(), places[0], places[1], planfile.Read)
	if err != nil || !slices.Equal(d.Releases.Microdata, []string{"t"}) || d.Releases.Cells != 2 {
		t.Errorf("%+v, %v", d.Releases, err)
	}
	if same, err := Of(t.Context(), places[0], places[0], planfile.Read); err != nil ||
		!same.Releases.SameMeasurements {
		t.Errorf("%+v, %v", same, err)
	}
}
