package domain

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds what all readers of domains share.

// Reader reads the domains of the columns of one release, and bounds the memory that they take together.
type Reader struct {
	*document.Findings
	files  *files.Set
	params *document.Parameters
	books  map[string]*codebook
	spent  int // the size of all domains read so far, in cells
}

// NewReader returns a reader of the columns of a document, which reports problems to f. It fills in parameters in the
// names of files, and opens the files in the set.
func NewReader(f *document.Findings, set *files.Set, params *document.Parameters) *Reader {
	return &Reader{Findings: f, files: set, params: params, books: map[string]*codebook{}}
}

// maxSpent bounds the size of a release's domains together, so that a short spec cannot ask for more memory than a
// machine has.
const maxSpent = 2 * MaxCells

// Spend adds categories to the size of all domains, and maps from base cells to a level, which take an eighth of a
// category each. It returns false and reports the column if the bound is exceeded.
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
