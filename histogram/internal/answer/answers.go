// Package answer holds exact answers: what a counter returns, and nobody else may read.
//
// It owns the values that a release must never show without noise. Outside the packages that internal/structure
// lists, an [Answers] can only be passed on: it has no method and no field that reveals anything, and the functions
// that read it belong to this package, which only packages below histogram can import. It counts nothing, draws
// nothing and writes nothing.
package answer

// This file holds Answers, everything that was counted for one plan.

// Answers holds the exact answers to questions. It has no getter and shows "confidential" however it is printed, logged
// or marshalled: only the functions of this package read it.
type Answers struct {
	Redacted
	inner func() *answers // a function, which nothing compares or looks into
}

// answers is what Answers hides.
type answers struct {
	all    []Answer
	madeUp bool
	stamp  Stamp
}

// Stamp identifies what was asked, of which plan, and under which key: answers to anything else have another stamp.
type Stamp [32]byte

// New returns the answers to questions, in their order. madeUp says whether they are of made-up rows.
func New(all []Answer, madeUp bool, stamp Stamp) Answers {
	a := &answers{all, madeUp, stamp}
	return Answers{inner: func() *answers { return a }}
}

// All returns the answers in the order of the questions, and nil for the zero Answers.
func All(a Answers) []Answer {
	if a.inner == nil {
		return nil
	}
	return a.inner().all
}

// IsMadeUp reports whether answers are of made-up rows.
func IsMadeUp(a Answers) bool { return a.inner != nil && a.inner().madeUp }

// Has reports whether answers have a stamp.
func Has(a Answers, stamp Stamp) bool { return a.inner != nil && a.inner().stamp == stamp }
