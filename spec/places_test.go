package spec

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// places is a release with every kind of geography: grids, and a code book with boundaries.
const places = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1, delta: 1e-9}
tables:
  trips:
    source: {arrow: trips.arrow}
    unit: row
    columns:
      pickup:  {grid: {lon: pu_lon, lat: pu_lat, box: [-87.95, 41.64, -87.52, 42.03], cells: [64, 32]}, levels: quadtree, unknown: {as: outside}}
      dropoff: {grid: {box: [-1/3, -0.5, 1, 2], cells: [3, 5]}, unknown: drop, null: {as: nowhere}}
      area:    {codebook: areas.csv, map: areas.geojson, levels: [side]}
marginals:
  od:  {by: [pickup, dropoff], cells: {above: 40}}
  far: {by: [pickup.4x2, area.side]}
`

const areasBook = "code,label,side\n8,Near North,north\n32,Loop,centre\n76,O'Hare,north\n"

const areasMap = `{"type": "FeatureCollection", "name": "areas", "features": [
  {"type": "Feature", "properties": {"code": "8", "name": "Near North"}, "geometry": {"type": "Polygon", "coordinates": [[[-87.65, 41.89], [-87.62, 41.89], [-87.62, 41.91], [-87.65, 41.89]]]}},
  {"type": "Feature", "id": 32, "properties": null, "geometry": {"type": "MultiPolygon", "coordinates": [[[[-87.64, 41.87, 180], [-87.62, 41.87, 181], [-87.62, 41.88, 181], [-87.64, 41.87, 180]], [[-87.63, 41.871], [-87.625, 41.871], [-87.625, 41.872], [-87.63, 41.871]]]]}},
  {"type": "Feature", "properties": {"code": 76}, "geometry": {"type": "Polygon", "coordinates": [[[-87.95, 41.95], [-87.85, 41.95], [-87.85, 42], [-87.95, 41.95]]]}}
]}
`

func placesSource() Source {
	return Source{Name: "release.yaml", Text: places, Files: map[string]string{"areas.csv": areasBook,
		"areas.geojson": areasMap}}
}

// place is a case of places with one change.
func place(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.params, c.files = places, map[string]string{}, placesSource().Files
	return c
}

// outlined is a case of places with one change in its boundaries.
func outlined(name, old, new string) errorCase {
	c := place(name, "version: 1", "version: 1")
	c.files = maps.Clone(c.files)
	c.files["areas.geojson"] = strings.Replace(areasMap, old, new, 1)
	return c
}

func init() {
	errorCases["places"] = []errorCase{
		place("longitude beyond the date line", "[-87.95, 41.64", "[-187.95, 41.64"),
		place("latitude beyond the pole", "-87.52, 42.03]", "-87.52, 92.03]"),
		place("corners as latitude, longitude", "[-87.95, 41.64, -87.52, 42.03]", "[41.64, -92, 42.03, -87]"),
		place("box across the date line", "[-87.95, 41.64, -87.52, 42.03]", "[170, 41.64, -170, 42.03]"),
		place("box without width", "[-87.95, 41.64, -87.52, 42.03]", "[-87.95, 41.64, -87.95, 42.03]"),
		place("north below south", "[-87.95, 41.64, -87.52, 42.03]", "[-87.95, 42.03, -87.52, 41.64]"),
		place("three corners", "[-87.95, 41.64, -87.52, 42.03]", "[-87.95, 41.64, -87.52]"),
		place("corners that are no numbers", "[-87.95, 41.64, -87.52, 42.03]", "[west, 41.64, -87.52, 42.03]"),
		place("corners of very many digits", "[-87.95, 41.64, -87.52, 42.03]",
			"[-87.950000000000000001, 41.64, -87.52, 42.03]"),
		place("no box", "box: [-1/3, -0.5, 1, 2], ", ""),
		place("no cells", ", cells: [3, 5]", ""),
		place("cells that are one number", "cells: [3, 5]", "cells: 15"),
		place("no column of cells", "cells: [3, 5]", "cells: [0, 5]"),
		place("too many along an axis", "cells: [3, 5]", "cells: [5000, 5]"),
		place("too many cells", "cells: [3, 5]", "cells: [2048, 1024]"),
		place("quadtree of odd numbers", "cells: [64, 32]", "cells: [64, 33]"),
		place("quadtree that is mistyped", "levels: quadtree", "levels: quadtrees"),
		place("widths in a grid", "levels: quadtree", "levels: {wide: {width: 2}}"),
		place("levels of a code book in a grid", "levels: quadtree", "levels: [side]"),
		place("level that is not there", "pickup.4x2", "pickup.4x4"),
		place("level without a quadtree", "pickup.4x2", "dropoff.1x1"),
		place("quadtree of a code book", "levels: [side]", "levels: quadtree"),
		place("grid of an expression", "{grid: {box", "{from: place, grid: {box"),
		place("grid with a type", "{grid: {box", "{type: decimal, grid: {box"),
		place("one column for both", "grid: {box", "grid: {lon: lat, box"),
		place("grid and code book", "{grid: {box", "{codebook: areas.csv, grid: {box"),
		place("unknown as a cell", "{as: outside}", "{as: x00y00}"),
		place("unknown as a cell of a level", "{as: outside}", "{as: x0y0}"),
		place("unknown key of a grid", "grid: {box", "grid: {long: x, box"),
		place("map of a grid", "{grid: {box", "{map: areas.geojson, grid: {box"),
		place("map that is not there", "map: areas.geojson", "map: arias.geojson"),
		outlined("map that is empty", areasMap, ""),
		outlined("map that is cut short", areasMap[200:], ""),
		outlined("map that is no JSON", `"id": 32`, `"id": '32'`),
		outlined("map with something behind it", "]}\n", "]}\n{}"),
		outlined("map that is a list", areasMap, "[]"),
		outlined("map that is a feature", "FeatureCollection", "Feature"),
		outlined("map of features that are no list", areasMap, `{"type": "FeatureCollection", "features": 1}`),
		outlined("map without features", `"features"`, `"places"`),
		outlined("map that is not UTF-8", `"name": "areas"`, "\"name\": \"\xff\""),
		outlined("map of points", "Polygon", "Point"),
		outlined("feature that is none", `"type": "Feature", "id"`, `"type": "feature", "id"`),
		outlined("feature without a code", `"id": 32, `, ""),
		outlined("feature of an unknown code", `"id": 32`, `"id": 33`),
		outlined("code in two features", `"id": 32`, `"id": 8`),
		outlined("ring that is not closed", "[-87.62, 41.91], [-87.65, 41.89]", "[-87.62, 41.91], [-87.64, 41.89]"),
		outlined("ring of two points", "[-87.65, 41.89], [-87.62, 41.89], [-87.62, 41.91], [-87.65, 41.89]",
			"[-87.65, 41.89], [-87.65, 41.89]"),
		outlined("coordinates of a projection", "[-87.62, 41.91]", "[1176000.5, 1903000.5]"),
		outlined("coordinates the other way round", "[-87.62, 41.91]", "[41.91, -97.62]"),
		outlined("number beyond all numbers", "[-87.62, 41.91]", "[1e999, 41.91]"),
		outlined("position of one number", "[-87.62, 41.91]", "[-87.62]"),
		outlined("coordinates that are too shallow", "[[[-87.65", "[[-87.65"),
		outlined("geometry without rings", "[[[-87.65, 41.89], [-87.62, 41.89], [-87.62, 41.91], [-87.65, 41.89]]]",
			"[]"),
		outlined("no outline at all", areasMap,
			`{"type": "FeatureCollection", "features": [{"type": "Feature", "id": "8", "geometry": null}]}`),
		outlined("very large map", areasMap, strings.Repeat(" ", 4<<20)+areasMap),
	}
	errorCases["parents"] = []errorCase{
		book("orphan", "code,parent,state,district\na,,1,1\nb,a,1,1\nc,d,1,1\n"),
		book("cycle", "code,parent,state,district\na,b,1,1\nb,c,1,1\nc,b,1,1\n"),
		book("cycle of three", "code,parent,state,district\nz,,1,1\na,b,1,1\nb,c,1,1\nc,a,1,1\n"),
		book("orphan as a level", "code,parent,state,district\na,,1,1\nb,a,1,1\n").with("[state, district]",
			"[parent, district]"),
	}
}

func TestPlacesAreWellFormed(t *testing.T) {
	r, err := Parse(placesSource())
	if err != nil || len(r.Warnings)+len(r.Unbuilt) != 0 {
		t.Fatalf("%v, warnings %v", err, r)
	}
	trips := r.Table("trips")
	if p := trips.Column("pickup"); p.From != "" || !slices.Equal(p.Inputs(), []string{"pu_lon", "pu_lat"}) ||
		p.Unknown != (Policy{As, 64 * 32}) {
		t.Errorf("pickup %q of %v, unknown %v", p.From, p.Inputs(), p.Unknown)
	}
	d := trips.Column("pickup").Domain
	if got, want := d.LevelNames(), []string{"32x16", "16x8", "8x4", "4x2", "2x1"}; !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
	for _, name := range append([]string{""}, d.LevelNames()...) {
		l, _ := d.Level(name)
		if last := l.Categories[l.Size()-1]; last.Code != "outside" {
			t.Errorf("level %q ends with %v", name, last)
		}
		if !slices.IsSortedFunc(l.Categories[:l.Size()-1],
			func(a, b domain.Category) int { return strings.Compare(a.Code, b.Code) }) {
			t.Errorf("codes of level %q do not ascend", name)
		}
	}
	want := map[string]domain.Category{
		"":     {Code: "x63y00", Label: "[-87.52672, 41.64, -87.52, 41.6522]"},
		"8x4":  {Code: "x7y0", Label: "[-87.5738, 41.64, -87.52, 41.7375]"},
		"2x1":  {Code: "x1y0", Label: "[-87.735, 41.64, -87.52, 42.03]"},
		"4x2":  {Code: "x3y0", Label: "[-87.628, 41.64, -87.52, 41.835]"},
		"16x8": {Code: "x15y0", Label: "[-87.5469, 41.64, -87.52, 41.6888]"},
	}
	corner := 63 * 32 // in the south-east
	for name, category := range want {
		l, _ := d.Level(name)
		if got := l.Categories[l.Category(corner)]; got != category {
			t.Errorf("level %q has the corner in %v, want %v", name, got, category)
		}
	}
	drop := trips.Column("dropoff")
	if l, _ := drop.Domain.Level(""); l.Categories[0].Label != "[-0.333, -0.5, 0.111, 0]" || l.Size() != 16 ||
		drop.Null != (Policy{As, 15}) {
		t.Errorf("%v, null %v", l.Categories, drop.Null)
	}
	area := trips.Column("area").Map
	if area == nil || area.File != "areas.geojson" || len(area.Areas) != 3 || len(area.Areas[1]) != 2 ||
		area.Areas[2][0][1] != (domain.Position{-87.85, 41.95}) {
		t.Errorf("areas %v", area)
	}
	if r.Source.Files["areas.geojson"] != areasMap {
		t.Error("the boundaries are not part of the source")
	}
}

// A map without some outlines is drawn without them, with a warning.
func TestAreaWithoutAnOutlineWarns(t *testing.T) {
	src := placesSource()
	src.Files["areas.geojson"] = strings.Replace(areasMap, `"code": 76}, "geometry": {`,
		`"code": 76}, "geometry": null, "was": {`, 1)
	r, err := Parse(src)
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message, "no outline of 76") {
		t.Fatalf("%v, %v", err, r)
	}
}

func TestCellsOfPlaces(t *testing.T) {
	src := placesSource()
	src.Text = strings.Replace(places, "cells: [64, 32]", "cells: [4, 2]", 1)
	src.Text = strings.Replace(src.Text, "pickup.4x2", "pickup.2x1", 1)
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	g := r.Table("trips").Column("pickup").Grid
	for _, of := range []struct {
		x, y, want int
	}{{0, 0, 0}, {0, 1, 1}, {1, 0, 2}, {3, 1, 7}, {-1, 1, -1}, {3, -1, -1}, {-1, -1, -1}} {
		if got := g.Cell(of.x, of.y); got != of.want {
			t.Errorf("column %d, row %d: cell %d, want %d", of.x, of.y, got, of.want)
		}
	}
	d := r.Table("trips").Column("pickup").Domain
	for v, want := range map[int64]domain.Fit{0: domain.Fits, 7: domain.Fits, 8: domain.OutOfDomain,
		-1: domain.OutOfDomain, math.MinInt64: domain.OutOfDomain} {
		if _, fit := d.CodeOfInt(v); fit != want {
			t.Errorf("cell %d: %v, want %v", v, fit, want)
		}
	}
	if _, fit := d.CodeOfText("x0y0"); fit != domain.WrongType {
		t.Errorf("a text: %v", fit)
	}
	if _, fit := d.CodeOfBool(true); fit != domain.WrongType {
		t.Errorf("a boolean: %v", fit)
	}
}

func FuzzCodebook(f *testing.F) {
	f.Add(regions, "state", "district")
	f.Add(areasBook, "side", "area")
	for _, topic := range []string{"codebook", "parents"} {
		for _, c := range errorCases[topic] {
			if text, ok := c.files["regions.csv"]; ok {
				f.Add(text, "state", "parent")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, coarse, fine string) {
		spec := fmt.Sprintf("version: 1\nrelease: x\nprivacy: {protects: trip, neighbours: replace}\nbudget: {rho: 1}\n"+
			"tables:\n  t:\n    source: {csv: t.csv}\n"+
			"    unit: row\n    columns: {a: {codebook: b.csv, levels: [%s, %s]}}\nmarginals: {m: {by: [a]}}\n",
			strconv.Quote(coarse), strconv.Quote(fine))
		checkFiles(t, Source{Text: spec, Files: map[string]string{"b.csv": text}})
	})
}

func FuzzMap(f *testing.F) {
	f.Add(areasMap)
	for _, c := range errorCases["places"] {
		if text := c.files["areas.geojson"]; len(text) < 10_000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkFiles(t, Source{
			Text: "version: 1\nrelease: x\nprivacy: {protects: trip, neighbours: replace}\nbudget: {rho: 1}\n" +
				"tables:\n  t:\n" +
				"    source: {csv: t.csv}\n" +
				"    unit: row\n    columns: {a: {codebook: b.csv, map: b.json}}\nmarginals: {m: {by: [a]}}\n",
			Files: map[string]string{"b.csv": areasBook, "b.json": text},
		})
	})
}

// checkFiles reads a spec with arbitrary files: every problem has a position and a message, and all levels nest.
func checkFiles(t *testing.T, src Source) {
	r, err := Parse(src)
	var problems *document.Errors
	if err != nil && !errors.As(err, &problems) {
		t.Fatalf("an error of another type: %v", err)
	}
	if problems != nil {
		for _, p := range problems.Problems {
			if p.File == "" || p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Fatalf("a problem without place or words: %+v", p)
			}
		}
		return
	}
	for _, table := range r.Tables {
		for _, c := range table.Columns {
			for _, name := range c.Domain.LevelNames() {
				l, _ := c.Domain.Level(name)
				if l.CategoryOf != nil && (len(l.CategoryOf) != c.Domain.Size() ||
					int(slices.Max(l.CategoryOf)) >= l.Size()) {
					t.Fatalf("level %q does not part the codes", name)
				}
			}
			if c.Map != nil && len(c.Map.Areas) != c.Domain.Size() {
				t.Fatalf("%d areas of %d codes", len(c.Map.Areas), c.Domain.Size())
			}
		}
	}
}
