// Package plan tests for kinds in seven places outside their files, and does each step's work again.
package plan

import "planted/spec"

// Counted has one type a kind.
type Counted interface{ counted() }

// Rows is a kind.
type Rows struct{}

func (Rows) counted() {}

// Plan is encoded and hashed.
type Plan struct{ text string }

// Bytes encodes.
func (p *Plan) Bytes() []byte { return []byte(p.text) }

// Hash hashes.
func (p *Plan) Hash() int { return len(p.Bytes()) }

// Estimates plans.
func (p *Plan) Estimates() int { return p.Hash() }

// Again parses twice.
func Again(p *Plan) spec.Marginal {
	again := spec.Parse
	_ = again
	return spec.Parse(string(p.Bytes()))
}

// Kinds has the seven tests.
func Kinds(m spec.Marginal, c Counted) int {
	if m.Sparse() && m.By != nil { // 1
		return 1
	}
	switch {
	case m.Above >= 0, m.Kind == spec.Count: // 2, 3
		return 2
	case len(m.By) == 0, !m.Sparse(): // 4
		return 3
	}
	switch m.Kind {
	case spec.Count: // 5
		return 4
	}
	if _, ok := c.(Rows); ok { // 6
		return 5
	}
	switch c.(type) {
	case Rows: // 7
		return 6
	}
	return int(m.Above)
}

// words tests for a kind by its word, twice.
func words(asked string, known map[string]bool) bool {
	return asked == spec.Count.String() || known[spec.Count.String()]
}
