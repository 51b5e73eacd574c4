package spec

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds what all readers of the parts of a spec share.

// reader makes a release of one document.
type reader struct {
	*document.Findings
	files     *files.Set
	params    *document.Parameters
	books     map[string]*codebook
	joined    map[*Join]*publicTable // as they are read
	failed    map[*Table][]string    // joins of tables with which something is wrong
	extras    map[string]string      // the leaves of what is bought beside the split, by the path where it is asked for
	figured   map[string]bool        // the columns that have statistics of their values
	discovers bool                   // what is read may name columns whose categories are not listed
	spent     int                    // what the domains of all columns take so far, in cells
	release   *Release
}

func newReader(f *document.Findings, open files.Opener) *reader {
	return &reader{
		Findings: f,
		files:    files.NewSet(f, open),
		books:    map[string]*codebook{},
		joined:   map[*Join]*publicTable{},
		failed:   map[*Table][]string{},
		extras:   map[string]string{},
		figured:  map[string]bool{},
		release:  &Release{},
	}
}

// maxSpent bounds what the domains of a release take together, so that a short spec cannot ask
// for more memory than a machine has.
const maxSpent = 2 * maxCells

// spend counts categories, and maps from base cells to a level, which take an eighth of a
// category each. It reports the column at which the bound is passed.
func (r *reader) spend(column document.Node, categories, mapped int) bool {
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

// isPublic reports whether a table has no units to protect.
func isPublic(table document.Node) bool {
	unit := table.Get("unit")
	return unit.Present() && unit.Text() == "public"
}
