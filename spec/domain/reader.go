package domain

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds what all readers of domains share.

// Reader reads the domains of the columns of one release. It counts what they take together.
type Reader struct {
	*document.Findings
	files  *files.Set
	params *document.Parameters
	books  map[string]*codebook
	spent  int // what the domains of all columns take so far, in cells
}

// NewReader returns a reader of the columns of a document, which reports what is wrong with them. Parameters are
// filled in where files are named, and the files opened in the set.
func NewReader(f *document.Findings, set *files.Set, params *document.Parameters) *Reader {
	return &Reader{Findings: f, files: set, params: params, books: map[string]*codebook{}}
}

// maxSpent bounds what the domains of a release take together, so that a short spec cannot ask
// for more memory than a machine has.
const maxSpent = 2 * MaxCells

// Spend counts categories, and maps from base cells to a level, which take an eighth of a
// category each. It reports the column at which the bound is passed.
func (r *Reader) Spend(column document.Node, categories, mapped int) bool {
	r.spent += categories + mapped/8
	if r.spent <= maxSpent {
		return true
	}
	r.WrongKey(column, document.Problem{
		Message:  fmt.Sprintf("the domains up to this one have more than %d cells and categories together", maxSpent),
		Expected: "coarser domains, or fewer levels",
	})
	return false
}
