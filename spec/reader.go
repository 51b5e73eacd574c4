package spec

import (
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds what all readers of the parts of a spec share.

// reader reads one document into a release.
type reader struct {
	*document.Findings
	files          *files.Set
	params         *document.Parameters
	domains        *domain.Reader
	publicTables   map[*Join]*publicTable // the content of each join
	failedJoins    map[*Table][]string    // names of joins with a problem, by table
	extras         map[string]string      // the leaves of extras, by the path of the node that asks for them
	hasStatistics  map[string]bool        // the columns with statistics of their values
	allowsUnlisted bool                   // attributes being read may be columns whose categories are not listed
	release        *Release
}

func newReader(f *document.Findings, open files.Opener) *reader {
	return &reader{
		Findings:      f,
		files:         files.NewSet(f, open),
		publicTables:  map[*Join]*publicTable{},
		failedJoins:   map[*Table][]string{},
		extras:        map[string]string{},
		hasStatistics: map[string]bool{},
		release:       &Release{},
	}
}

// isPublic reports whether a table has no units to protect.
func isPublic(table document.Node) bool {
	return table.Get("unit").Is("public")
}

// conflict is a key that cannot be combined with another key or with a kind of marginal, the reason, and what to write
// instead if that differs from one conflict to the next.
type conflict struct{ key, why, instead string }

// reportConflicts reports each conflicting key that is present at a node, with the problem that the function returns.
func (r *reader) reportConflicts(n document.Node, all []conflict, problem func(conflict) document.Problem) {
	for _, c := range all {
		if other := n.Get(c.key); other.Present() {
			r.WrongKey(other, problem(c))
		}
	}
}

// conflictWith returns the problem of a key that cannot be combined with the given key of a marginal.
func conflictWith(key string) func(conflict) document.Problem {
	return func(c conflict) document.Problem {
		return document.Problem{Message: "`" + c.key + "` with `" + key + "`: " + c.why,
			Expected: "one of the two; a second marginal can have the other"}
	}
}
