package domain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/language"
)

// This file reads the boundaries of places: a GeoJSON file of areas by their codes.

// readBoundaries reads the boundaries of a code book's categories. It returns nil if a problem was reported.
func (r *Reader) readBoundaries(d *Domain, n document.Node) *Boundaries {
	path, ok := r.params.Fill(n)
	if !ok {
		return nil
	}
	text, ok := r.files.ReadText(n, files.Outlines, path)
	if !ok {
		return nil
	}
	g := &geojson{file: path, text: text, domain: d, areas: make([]Area, d.size)}
	if p := g.read(); p != nil {
		r.ReportIn(n.Value, n.Path, *p)
		return nil
	}
	var missing []string
	for code, area := range g.areas {
		if area == nil {
			missing = append(missing, document.Clip(d.Categories()[code].Code))
		}
	}
	if len(missing) == d.size {
		r.ReportIn(n.Value, n.Path,
			*g.problem(0, "no feature has an outline", "a Polygon or MultiPolygon for each code of the code book"))
		return nil
	}
	if len(missing) > 0 {
		r.Warn(n.Position(), n.Path, document.Problem{
			Expected: "a feature for each code of the code book; maps of the report leave these places out",
		}, language.Key("the map has no outline of %s"), document.FirstOf(missing, 5))
	}
	r.files.KeepText(path, text)
	return &Boundaries{File: path, Areas: g.areas}
}

// geojson reads a GeoJSON file (RFC 7946).
type geojson struct {
	file, text string
	domain     *Domain
	areas      []Area
}

// feature holds the fields of a feature that are read. Its code is its property code or, if there is none, its id.
type feature struct {
	Type       string          `json:"type"`
	ID         json.RawMessage `json:"id"`
	Properties struct {
		Code json.RawMessage `json:"code"`
	} `json:"properties"`
	Geometry *geometry `json:"geometry"`
}

type geometry struct {
	Type        string          `json:"type"`
	Coordinates json.RawMessage `json:"coordinates"`
}

// problem returns a problem at a byte of the file.
func (g *geojson) problem(at int64, message, expected string) *document.Problem {
	before := g.text[:min(max(at, 0), int64(len(g.text)))]
	start := strings.LastIndexByte(before, '\n') + 1
	p := &document.Problem{
		File: g.file, Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]) + 1,
		Message: message, Expected: expected,
	}
	line, _, _ := strings.Cut(g.text[start:], "\n")
	p.Snippet = strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\ufffd")
	return p
}

const collection = `{"type": "FeatureCollection", "features": […]} as RFC 7946 has it`

// read reads the features of the file.
func (g *geojson) read() *document.Problem {
	if !utf8.ValidString(g.text) {
		return g.problem(0, "not UTF-8", "a GeoJSON file in UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(g.text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return g.brokenJSON(d, 0, err, "no GeoJSON object")
	}
	kind, found := "", false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return g.brokenJSON(d, d.InputOffset(), err, "")
		}
		at := d.InputOffset()
		switch key {
		case "type":
			err = d.Decode(&kind)
		case "features":
			found = true
			if p := g.readFeatures(d); p != nil {
				return p
			}
		default:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		if err != nil {
			return g.brokenJSON(d, at, err, "")
		}
	}
	if _, err := d.Token(); err != nil {
		return g.brokenJSON(d, d.InputOffset(), err, "")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return g.problem(d.InputOffset(), "something behind the end of the GeoJSON object", "one object")
	}
	if kind != "FeatureCollection" || !found {
		return g.problem(0, fmt.Sprintf("a GeoJSON object of type %q", document.Clip(kind)), collection)
	}
	return nil
}

// brokenJSON returns the problem of JSON that cannot be read.
func (g *geojson) brokenJSON(d *json.Decoder, at int64, err error, otherwise string) *document.Problem {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return g.problem(max(at, min(syntax.Offset, d.InputOffset())), "not JSON: "+syntax.Error(), collection)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return g.problem(int64(len(g.text)), "the file ends too early", collection)
	case err != nil:
		return g.problem(at, "not as GeoJSON has it", collection)
	}
	return g.problem(at, otherwise, collection)
}

func (g *geojson) readFeatures(d *json.Decoder) *document.Problem {
	at := d.InputOffset()
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return g.brokenJSON(d, at, err, "features is no list")
	}
	first := make([]int64, len(g.areas)) // the position of each code's first feature, plus one
	for d.More() {
		at := d.InputOffset()
		at += int64(strings.IndexFunc(g.text[at:], func(c rune) bool { return !strings.ContainsRune(" \t\r\n,", c) }))
		var f feature
		if err := d.Decode(&f); err != nil {
			return g.brokenJSON(d, at, err, "")
		}
		if p := g.readFeature(&f, at, first); p != nil {
			return p
		}
	}
	if _, err := d.Token(); err != nil {
		return g.brokenJSON(d, d.InputOffset(), err, "")
	}
	return nil
}

// readFeature reads the area of one code.
func (g *geojson) readFeature(f *feature, at int64, first []int64) *document.Problem {
	if f.Type != "Feature" {
		return g.problem(at, fmt.Sprintf("an object of type %q among the features", document.Clip(f.Type)),
			`{"type": "Feature", "properties": {"code": …}, "geometry": …}`)
	}
	name, ok := codeText(f.Properties.Code)
	if !ok {
		name, ok = codeText(f.ID)
	}
	if !ok {
		return g.problem(at, "a feature without a code",
			`its code as a text, "properties": {"code": "01"}, or as its id`)
	}
	code, fit := g.domain.CodeOfText(name)
	if fit != Fits {
		p := g.problem(at, fmt.Sprintf("%q is no code of the code book", document.Clip(name)),
			FirstFewOf(g.domain.Categories()))
		p.Nearest = Nearest(new(document.Suggestions), name, g.domain.Categories())
		return p
	}
	if first[code] > 0 {
		return g.problem(at, fmt.Sprintf("code %q appears twice", document.Clip(name)),
			fmt.Sprintf("one feature for each code; the first is in line %d", g.problem(first[code]-1, "", "").Line))
	}
	first[code] = at + 1
	if f.Geometry == nil {
		return nil
	}
	area, wrong := f.Geometry.parseArea()
	if wrong.Message != "" {
		return g.problem(at, fmt.Sprintf("code %q: %s", document.Clip(name), wrong.Message), wrong.Expected)
	}
	g.areas[code] = area
	return nil
}

// codeText returns a code as text: a JSON string, or a number as it is written.
func codeText(raw json.RawMessage) (string, bool) {
	var text string
	var digits json.Number
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", false
	case json.Unmarshal(raw, &text) == nil:
		return text, true
	case json.Unmarshal(raw, &digits) == nil:
		return digits.String(), true
	}
	return "", false
}

// parseArea returns the area of a Polygon or a MultiPolygon, or the problem that it has.
func (m *geometry) parseArea() (Area, document.Problem) {
	var polygons [][][][]float64
	var err error
	switch m.Type {
	case "Polygon":
		polygons = make([][][][]float64, 1)
		err = json.Unmarshal(m.Coordinates, &polygons[0])
	case "MultiPolygon":
		err = json.Unmarshal(m.Coordinates, &polygons)
	default:
		return nil, document.Problem{Message: fmt.Sprintf("a geometry of type %q", document.Clip(m.Type)),
			Expected: "Polygon or MultiPolygon"}
	}
	if err != nil {
		return nil, document.Problem{Message: "coordinates that do not fit a " + m.Type,
			Expected: "rings of positions, such as [[[-87.7, 41.8], …]]"}
	}
	var area Area
	for _, polygon := range polygons {
		for _, points := range polygon {
			ring, wrong := parseRing(points)
			if wrong.Message != "" {
				return nil, wrong
			}
			area = append(area, ring)
		}
	}
	if area == nil {
		return nil, document.Problem{Message: "an empty geometry", Expected: "at least one ring, or geometry: null"}
	}
	return area, document.Problem{}
}

// parseRing checks that points are a closed ring of degrees.
func parseRing(points [][]float64) ([]Position, document.Problem) {
	ring := make([]Position, len(points))
	for i, point := range points {
		if len(point) < 2 {
			return nil, document.Problem{Message: "a position of fewer than two numbers",
				Expected: "[longitude, latitude]"}
		}
		if math.Abs(point[0]) > 180 || math.Abs(point[1]) > 90 {
			return nil, document.Problem{
				Message: "a coordinate out of range",
				Expected: "longitudes from -180 to 180 and latitudes from -90 to 90, in degrees of WGS 84 and in " +
					"this order, as GeoJSON has them; convert projected coordinates first",
			}
		}
		ring[i] = Position{point[0], point[1]}
	}
	if len(ring) < 4 || !slices.Equal(points[0][:2], points[len(points)-1][:2]) {
		return nil, document.Problem{Message: "a ring that is not closed",
			Expected: "at least four positions, the last equal to the first"}
	}
	return ring, document.Problem{}
}
