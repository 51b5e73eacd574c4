package published

import (
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/report"
)

// ReadReport reads the report of a published folder, which it opens as [OpenFolder] does. Errors: *[verdict.Unusable];
// *[Altered] for a folder that was changed, or whose charts have figures outside their own intervals.
func ReadReport(place string) (*report.Report, error) {
	d, err := OpenFolder(place)
	if err != nil {
		return nil, err
	}
	b, err := d.Read(ReportFile)
	if err != nil {
		return nil, err
	}
	r, err := report.Read(b)
	if err != nil {
		return nil, &verdict.Unusable{File: filepath.Join(place, ReportFile), Err: err}
	}
	if m := d.Manifest; r.Release != m.Release || r.Provenance.PlanHash != m.PlanHash ||
		StatusText(ledger.Status(r.Status)) != m.Status {
		return nil, d.Altered(Faultf(ReportFile, "is of another release, plan or status than %s", ManifestFile))
	}
	for _, t := range r.Tables {
		for _, s := range t.Series {
			if at := slices.IndexFunc(s.Points, func(p report.Point) bool { return !isInside(p) }); at >= 0 &&
				t.Statistics[0].Fitted == nil {
				return nil, d.Altered(Faultf(ReportFile,
					"has a %s of table %s, point %d, that lies outside its own interval",
					screen.Visible(s.Figure, ""), screen.Visible(t.Path, ""), at+1))
			}
		}
	}
	return r, nil
}

// isInside reports whether a point of a chart lies in its interval, up to rounding to a whole number; a negative count
// is shown as 0. It returns true for a point without an interval.
func isInside(p report.Point) bool {
	if p.Value == nil || p.Low == nil || p.High == nil {
		return true
	}
	return *p.Low <= *p.High && *p.Low-0.5 <= *p.Value && *p.Value <= max(*p.High+0.5, 0)
}
