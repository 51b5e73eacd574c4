// Package selection says which answers of a measurement are given out: all of them, those above a public threshold,
// those of the cells that are chosen privately for their large counts, or those of the groups that a private
// selection lets through.
//
// It owns these kinds, one file each: the kind's canonical form, what it costs in addition to the noise, with the
// theorem, and what a published table says of it. A selection is a value:
//
//	const above = selection.Above{Threshold: 40}
//	costs := above.Steps() // none: post-processing
//
// It never sees an answer.
package selection

import "github.com/dprelease/dprelease/budget"

// Kind numbers the ways in which answers are given out, so that a package lists what it does with each in an array.
type Kind uint8

// The kinds.
const (
	KindAll Kind = iota
	KindAbove
	KindTop
	KindGroups
	KindTexts

	// Kinds is how many kinds there are.
	Kinds = int(KindTexts) + 1
)

// Selection says which answers of a measurement are given out: one of [All], [Above], [Top], [Groups] and [Texts].
type Selection interface {
	Kind() Kind
	// Check returns an error unless the selection can be run.
	Check() error
	// Steps returns the mechanisms that the selection runs in addition to the noise of the answers.
	Steps() []budget.Mechanism
}

// All gives out every answer.
type All struct{}

// Kind returns [KindAll].
func (All) Kind() Kind { return KindAll }

// Check returns nil.
func (All) Check() error { return nil }

// Steps returns nil: nothing is selected.
func (All) Steps() []budget.Mechanism { return nil }
