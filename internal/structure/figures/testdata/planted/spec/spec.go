// Package spec has two representations of a marginal, a list of kinds, and what parses.
package spec

// StatKind lists kinds.
type StatKind string

// Count is a kind.
const Count StatKind = "count"

// String returns the word of a kind.
func (k StatKind) String() string { return string(k) }

// Marginal has an exported method and four exported fields.
type Marginal struct {
	By    []string
	Above int64
	Kind  StatKind
	Top   *int
	sizes []int
}

// Sparse names a kind.
func (m Marginal) Sparse() bool { return m.Above > 0 }

func (m Marginal) size() int { return len(m.sizes) }

type figures struct {
	keys []string
	by   string
}

// Budget has a field by that is no list.
type Budget struct {
	By string
}

// Parse parses.
func Parse(text string) Marginal { return Marginal{By: []string{text}} }
