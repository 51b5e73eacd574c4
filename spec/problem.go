package spec

// This file holds the problem: one thing wrong with a spec, where it stands and how to mend it.

// Problem is one thing wrong with a spec or a code book.
type Problem struct {
	File         string
	Line, Column int
	// Path is the path of the key, as tables.persons.columns.age.range.
	Path string
	// Message is what is wrong, Expected what would be right, Fix text to paste.
	Message, Expected, Fix string
	// Snippet is the offending line.
	Snippet string
	// Unbuilt marks a part of the language that this version does not build.
	Unbuilt bool
}

// Errors are all the problems of a spec, in document order.
type Errors struct{ Problems []Problem }

// Error renders every problem.
func (e *Errors) Error() string { return "" }

// Unbuilt is true where the spec is well formed and only uses parts of the language that
// this version does not build.
func (e *Errors) Unbuilt() bool {
	for _, p := range e.Problems {
		if !p.Unbuilt {
			return false
		}
	}
	return len(e.Problems) > 0
}
