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

// conflict is a key that does not go with another one, or with what a marginal is, why, and what to write in its place
// where that is not the same for all.
type conflict struct{ key, why, instead string }

// notBeside reports the keys at a node that do not go with what it has besides, each as a problem says it.
func (r *reader) notBeside(n document.Node, all []conflict, problem func(conflict) document.Problem) {
	for _, c := range all {
		if other := n.Get(c.key); other.Present() {
			r.WrongKey(other, problem(c))
		}
	}
}

// besideKey says that a key does not go with another one of a marginal.
func besideKey(key string) func(conflict) document.Problem {
	return func(c conflict) document.Problem {
		return document.Problem{Message: "`" + c.key + "` beside `" + key + "`: " + c.why,
			Expected: "one of the two; a second marginal can have the other"}
	}
}
