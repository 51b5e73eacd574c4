package maker

// This file holds the atlas: the positions of a place attribute's categories on the drawing, from a grid or from
// boundaries.

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// mapSide is the length of a map's longer side, in its own units.
const mapSide = 960

// mostPlaces is the largest number of places with which a map is still readable.
const mostPlaces = 4096

// atlas holds the places of an attribute. A degree of longitude has its true length relative to one of latitude in the
// middle of the map.
type atlas struct {
	width, height int
	where         string // in words
	extent        [4]float64
	// For a grid: columns and rows of cells, and the sides of a cell. Category i is in column i/rows and in row i%rows
	// from the south.
	columns, rows, across, up int
	// For boundaries: the outline of each category, "" if it has none.
	outlines []string
	centres  []dot // of each category on the map
}

// dot is a point of the drawing.
type dot struct{ x, y int }

// atlasOf returns the atlas of a key of a table, nil if the key is not a place or has too many categories.
func atlasOf(l *language.Language, t *spec.Table, k synth.Key) *atlas {
	a := attributes.Counted(t, k.Attribute)
	c := t.Column(a.Column)
	switch {
	case c == nil || k.Level.Size() > mostPlaces+2:
		return nil
	case c.Grid != nil:
		return gridAtlas(l, c.Grid, a.Level)
	case c.Map != nil:
		return boundaryAtlas(l, c.Map, k.Level)
	}
	return nil
}

// longitudeScale returns the length of a degree of longitude relative to one of latitude: the cosine of the latitude,
// by Bhāskara's fraction (7th century), which is off by less than 0.002 and takes no more than a division.
func longitudeScale(latitude float64) float64 {
	square := float64(latitude * latitude)
	return max((32400-float64(4*square))/(32400+square), 0.05)
}

func gridAtlas(l *language.Language, g *domain.Grid, level string) *atlas {
	m := &atlas{columns: g.X.Size(), rows: g.Y.Size()}
	if level != "" {
		if _, err := fmt.Sscanf(level, "%dx%d", &m.columns, &m.rows); err != nil {
			return nil
		}
	}
	for i, x := range g.Box {
		m.extent[i], _ = x.Float64()
	}
	east := float64((m.extent[2] - m.extent[0]) * longitudeScale((m.extent[1]+m.extent[3])/2))
	north := m.extent[3] - m.extent[1]
	degree := mapSide / max(east, north) // units of the drawing
	m.across = max(int(float64(east*degree))/m.columns, 2)
	m.up = max(int(float64(north*degree))/m.rows, 2)
	m.width, m.height = m.columns*m.across, m.rows*m.up
	m.where = boxText(l, [4]string{formatDegrees(g.Box[0]), formatDegrees(g.Box[1]), formatDegrees(g.Box[2]),
		formatDegrees(g.Box[3])})
	for i := range m.columns * m.rows {
		m.centres = append(m.centres, dot{i/m.rows*m.across + m.across/2, (m.rows-1-i%m.rows)*m.up + m.up/2})
	}
	return m
}

func formatDegrees(x *big.Rat) string {
	text := strings.TrimRight(strings.TrimRight(new(big.Rat).Abs(x).FloatString(5), "0"), ".")
	if x.Sign() < 0 {
		return "−" + text
	}
	return text
}

// boxText says which part of the world is drawn.
func boxText(l *language.Language, box [4]string) string {
	return l.Text("Longitudes %s to %s, latitudes %s to %s; north is up.", l.Number(box[0]), l.Number(box[2]),
		l.Number(box[1]), l.Number(box[3]))
}

// boundaryAtlas draws the areas of the finest codes; a category of a level has the areas of all its codes.
func boundaryAtlas(l *language.Language, b *domain.Boundaries, level *domain.Level) *atlas {
	m := &atlas{extent: [4]float64{180, 90, -180, -90}, outlines: make([]string, level.Size()),
		centres: make([]dot, level.Size())}
	for _, area := range b.Areas {
		for _, ring := range area {
			for _, p := range ring {
				m.extent[0], m.extent[1] = min(m.extent[0], p[0]), min(m.extent[1], p[1])
				m.extent[2], m.extent[3] = max(m.extent[2], p[0]), max(m.extent[3], p[1])
			}
		}
	}
	narrow := longitudeScale((m.extent[1] + m.extent[3]) / 2)
	east, north := float64((m.extent[2]-m.extent[0])*narrow), m.extent[3]-m.extent[1]
	degree := mapSide / max(east, north, 1e-9)
	m.width, m.height = int(float64(east*degree))+1, int(float64(north*degree))+1
	place := func(p domain.Position) dot {
		return dot{
			int(math.Round(float64(float64((p[0]-m.extent[0])*narrow) * degree))),
			int(math.Round(float64((m.extent[3] - p[1]) * degree))),
		}
	}
	var texts [4]string
	for i, x := range m.extent {
		texts[i] = formatDegrees(new(big.Rat).SetFloat64(x))
	}
	m.where = boxText(l, texts)
	points := make([][]dot, level.Size())
	for code, area := range b.Areas {
		category := level.Category(code)
		var outline strings.Builder
		for _, ring := range area {
			points[category] = append(points[category], appendRing(&outline, ring, place)...)
		}
		m.outlines[category] += outline.String()
	}
	for i, all := range points {
		m.centres[i] = centreOf(all)
	}
	return m
}

// centreOf returns the centre of the smallest box that contains all points.
func centreOf(points []dot) dot {
	if len(points) == 0 {
		return dot{}
	}
	least, most := points[0], points[0]
	for _, p := range points {
		least = dot{min(least.x, p.x), min(least.y, p.y)}
		most = dot{max(most.x, p.x), max(most.y, p.y)}
	}
	return dot{(least.x + most.x) / 2, (least.y + most.y) / 2}
}

// appendRing writes a ring as a path and returns its points, without repeated neighbours. A ring too small to be seen
// becomes a dot.
func appendRing(to *strings.Builder, ring []domain.Position, place func(domain.Position) dot) []dot {
	var points []dot
	for _, p := range ring[:len(ring)-1] {
		if d := place(p); len(points) == 0 || points[len(points)-1] != d {
			points = append(points, d)
		}
	}
	fmt.Fprintf(to, "M%d %d", points[0].x, points[0].y)
	if len(points) < 3 {
		to.WriteString("h1v1h-1z")
		return points
	}
	for i, p := range points[1:] {
		fmt.Fprintf(to, "l%d %d", p.x-points[i].x, p.y-points[i].y)
	}
	to.WriteString("z")
	return points
}

// isOnMap reports whether a category is on the map.
func (m *atlas) isOnMap(category int) bool {
	if m.outlines != nil {
		return m.outlines[category] != ""
	}
	return category < m.columns*m.rows
}

// drawPlaces draws all places for which of is true as one path.
func (m *atlas) drawPlaces(of func(category int) bool) string {
	var b strings.Builder
	if m.outlines != nil {
		for category, outline := range m.outlines {
			if of(category) {
				b.WriteString(outline)
			}
		}
		return b.String()
	}
	for row := m.rows - 1; row >= 0; row-- {
		for column := 0; column < m.columns; column++ {
			from := column
			for column < m.columns && of(column*m.rows+row) {
				column++
			}
			if width := (column - from) * m.across; width > 0 {
				w := strconv.Itoa(width)
				fmt.Fprintf(&b, "M%d %dh%sv%dh-%sz", from*m.across, (m.rows-1-row)*m.up, w, m.up, w)
			}
		}
	}
	return b.String()
}
