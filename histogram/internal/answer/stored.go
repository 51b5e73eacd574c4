package answer

// This file holds the storing of answers: as bytes, which the caller must keep as confidential as the data.

import (
	"encoding/gob"
	"io"

	"github.com/dprelease/dprelease/internal/tabulate"
)

// storedAnswers is the stored form of [Answers].
type storedAnswers struct {
	Stamp   Stamp
	MadeUp  bool
	Answers []storedAnswer
}

// storedAnswer is the stored form of an [Answer].
type storedAnswer struct {
	Listed  bool // Cells is not nil
	Cells   []uint64
	Counts  []int64
	Compact *tabulate.CompactCounts
	Groups  *Groups
}

// Write writes answers, in the form that [Read] reads. Errors are those of w.
func Write(w io.Writer, a Answers) error {
	s := storedAnswers{MadeUp: IsMadeUp(a)}
	if a.inner != nil {
		s.Stamp = a.inner().stamp
	}
	for _, one := range All(a) {
		s.Answers = append(s.Answers, storedAnswer{Listed: one.Cells != nil, Cells: one.Cells, Counts: one.Counts,
			Compact: one.Compact, Groups: one.Groups})
	}
	return gob.NewEncoder(w).Encode(s)
}

// Read reads answers. It checks their form no more than encoding/gob does: whoever reads them checks their stamp, and
// the forms of the answers. Errors are those of r and of encoding/gob.
func Read(r io.Reader) (Answers, error) {
	var s storedAnswers
	if err := gob.NewDecoder(r).Decode(&s); err != nil {
		return Answers{}, err
	}
	all := make([]Answer, len(s.Answers))
	for i, one := range s.Answers {
		if one.Listed && one.Cells == nil {
			one.Cells = []uint64{} // gob does not distinguish an empty slice from nil
		}
		all[i] = Answer{Cells: one.Cells, Counts: one.Counts, Compact: one.Compact, Groups: one.Groups}
	}
	return New(all, s.MadeUp, s.Stamp), nil
}
