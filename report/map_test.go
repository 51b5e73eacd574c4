package report_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/spec"
)

// mapsText is a release of trips by cells of a grid of 4 × 2, by a level of it, and by areas that have boundaries.
const mapsText = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: lfs-panel}
budget: {epsilon: 1, split: {a: 1/4, b: 1/4, c: 1/4, d: 1/4}}
tables:
  trips:
    source: {parquet: t.parquet}
    unit: row
    columns:
      from: {grid: {box: [-8, 40, 0, 44], cells: [4, 2]}, levels: quadtree, unknown: {as: outside}}
      home: {grid: {lon: u, lat: v, box: [-8, 40, 0, 44], cells: [4, 2]}, levels: quadtree, unknown: {as: outside}}
      to:   {grid: {lon: x, lat: y, box: [-8, 40, 0, 44], cells: [4, 2]}, levels: quadtree, unknown: {as: outside}}
      area: {codebook: areas.csv, map: areas.geojson, levels: [side]}
      other: {codebook: areas.csv, map: areas.geojson, levels: [side]}
      day:  {values: [mon, tue]}
marginals:
  cells: {by: [from], budget: a}
  flows: {by: [home.2x1, to.2x1], budget: b}
  areas: {by: [area], budget: c}
  days:  {by: [other.side, day], budget: d}
`

var mapsFiles = map[string]string{
	"areas.csv": "code,label,side\nn,<North>,up\ns,South,down\ne,East,down\n",
	"areas.geojson": `{"type": "FeatureCollection", "features": [
{"type": "Feature", "id": "n", "geometry": {"type": "Polygon", "coordinates": [[[0, 1], [2, 1], [2, 2], [0, 2], [0, 1]], [[0.5, 1.25], [1, 1.25], [1, 1.5], [0.5, 1.25]]]}},
{"type": "Feature", "id": "s", "geometry": {"type": "MultiPolygon", "coordinates": [[[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]]}},
{"type": "Feature", "id": "e", "geometry": {"type": "Polygon", "coordinates": [[[1, 0], [2, 0], [2, 1], [1, 1], [1, 0]]]}}]}`,
}

// mapsCounts are noisy counts of mapsText: cells from the south-west northwards, and places outside.
var mapsCounts = map[string][]int64{
	"cells": {10, 20, 30, 0, 50, 60, 1, 5000, 77},
	"flows": {900, 400, 3, 35, 800, 2, 0, 1, 12},
	"areas": {300, 0, 200},
	"days":  {1, 2, 3, 4},
}

func mapsInput(t testing.TB) maker.Input { return mapsOf(t, mapsText) }

func mapsOf(t testing.TB, text string) maker.Input {
	t.Helper()
	release, err := spec.Parse(spec.Source{Name: "trips.yaml", Text: text, Files: mapsFiles})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(release)
	if err != nil {
		t.Fatal(err)
	}
	return maker.Input{Plan: p, Tables: published(p.Plan(), mapsCounts), Receipt: receiptFor(p.Plan(), report.Official),
		Software: "dprelease 0.1.0"}
}

func TestMapsOfPlaces(t *testing.T) {
	r := reportOf(t, mapsInput(t))
	var got []string
	for _, m := range r.Maps {
		got = append(got, m.Kind+" "+m.Table+" "+m.Figure+" "+m.Of)
	}
	want := []string{"grid cells count from", "flows flows count home.2x1 to to.2x1", "areas areas count area"}
	if !slices.Equal(got, want) {
		t.Fatalf("maps %q, want %q: tables of one place, or of an origin and a destination", got, want)
	}
	alone := strings.NewReplacer(", split: {a: 1/4, b: 1/4, c: 1/4, d: 1/4}", "", ", budget: a",
		"").Replace(mapsText[:strings.Index(mapsText, "  flows:")])
	cells := reportOf(t, mapsOf(t, alone)).Maps[0] // whose counts no other measurement affects
	// 8 degrees by 4 at latitude 42, where a degree of longitude is 0.74 of one of latitude: 960 × 646, in cells of
	// 240 × 323.
	if cells.Width != 960 || cells.Height < 640 || cells.Height > 652 {
		t.Errorf("the drawing is %d × %d", cells.Width, cells.Height)
	}
	up := cells.Height / 2
	cell := func(column, row int) string { return fmt.Sprintf("M%d %dh240v%dh-240z", column*240, (1-row)*up, up) }
	paths := map[string]string{}
	for _, c := range cells.Classes {
		paths[c.Range] = c.Path
	}
	// Two of 10, 20, 30, 0, 50, 60, 1 and 5000 are no larger than their margins.
	if want := cell(1, 1) + cell(3, 0); cells.Unsure != want {
		t.Errorf("hatched %q, want %q", cells.Unsure, want)
	}
	drawn := map[string]string{
		"below 30":          cell(0, 1) + cell(0, 0),
		"30 to below 100":   cell(2, 1) + fmt.Sprintf("M240 %dh480v%dh-480z", up, up),
		"100 to below 300":  "",
		"300 to below 1000": "", "1000 to below 3000": "",
		"3000 or more": cell(3, 1),
	}
	if !maps.Equal(paths, drawn) {
		t.Errorf("classes %q, want %q", paths, drawn)
	}
	if len(cells.OffMap) != 1 || cells.OffMap[0].Codes[0] != "outside" || cells.OffMap[0].Value != "77" {
		t.Errorf("beside the map: %v", cells.OffMap)
	}
	if cells.Largest[0].Codes[0] != "x3y1" || cells.Largest[0].Value != "5000" ||
		cells.Largest[0].Labels[0] != "[-2, 42, 0, 44]" {
		t.Errorf("the largest: %v", cells.Largest)
	}
}

// Every drawing is well formed, closed and within its frame, and loads nothing.
func TestMapsAreDrawings(t *testing.T) {
	r := reportOf(t, mapsInput(t))
	page := pageOf(t, r)
	for i := range r.Maps {
		from := strings.Index(page, fmt.Sprintf(`<h3 id="map-%d">`, i))
		svg := page[from:]
		svg = svg[strings.Index(svg, "<svg"):]
		svg = svg[:strings.Index(svg, "</svg>")+len("</svg>")]
		if !strings.Contains(svg, `role="img"`) || !strings.Contains(svg, fmt.Sprintf(`<desc id="map-%d-text">`, i)) {
			t.Errorf("map %d says nothing to those who do not see it", i)
		}
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("map %d: %v", i, err)
			}
			if e, ok := token.(xml.StartElement); ok &&
				slices.Contains([]string{"script", "image", "use", "foreignObject", "a"},
					e.Name.Local) {
				t.Errorf("map %d has a %s", i, e.Name.Local)
			}
		}
	}
	if strings.Contains(page, "<North>") {
		t.Error("a label is not escaped")
	}
	if plain := pageOf(t, reportOf(t, input(report.Official, nil))); strings.Contains(plain, `class="map"`) ||
		strings.Contains(plain, "svg.map") {
		t.Error("a report without places has maps")
	}
	if again, err := report.Read(r.JSON()); err != nil || pageOf(t, again) != page {
		t.Errorf("the page of report.json differs: %v", err)
	}
}
