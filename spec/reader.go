package spec

import (
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds what all readers of the parts of a spec share.

// reader makes a release of one document.
type reader struct {
	*document.Findings
	files     *files.Set
	params    *document.Parameters
	domains   *domain.Reader
	joined    map[*Join]*publicTable // as they are read
	failed    map[*Table][]string    // joins of tables with which something is wrong
	extras    map[string]string      // the leaves of what is bought beside the split, by the path where it is asked for
	figured   map[string]bool        // the columns that have statistics of their values
	discovers bool                   // what is read may name columns whose categories are not listed
	release   *Release
}

func newReader(f *document.Findings, open files.Opener) *reader {
	return &reader{
		Findings: f,
		files:    files.NewSet(f, open),
		joined:   map[*Join]*publicTable{},
		failed:   map[*Table][]string{},
		extras:   map[string]string{},
		figured:  map[string]bool{},
		release:  &Release{},
	}
}

// isPublic reports whether a table has no units to protect.
func isPublic(table document.Node) bool {
	return table.Get("unit").Is("public")
}
