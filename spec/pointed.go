package spec

// This file holds the faults of a spec that only those who use it can find.

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// Problem is a problem with what stands in the spec at a path of keys, as marginals.ages.target, told as *Errors as those that
// Parse finds: with its line and a caret. Where the spec says nothing at that path, it is placed at the longest part of it
// that is there.
func (r *Release) Problem(path string, p Problem) error {
	f := newFindings(r.Source.Name, r.Source.Text)
	at := &yaml.Node{}
	if root, ok := f.readDocument(r.Source.Text); ok {
		found, _ := deepest(root, path)
		at = found.heading()
		if found.value.Kind == yaml.ScalarNode {
			at = found.position()
		}
	}
	return &Errors{Problems: []Problem{f.place(at, path, p).Problem}}
}

// deepest is the node at a path below another, or at the longest part of it that there is, and what of the path is left. Keys
// may have dots in them.
func deepest(n node, path string) (found node, left string) {
	found, left = n, path
	for _, child := range append(n.pairs(), n.items()...) {
		name := strings.TrimPrefix(child.path, n.path)
		if child.key != nil {
			name = child.key.Value
		}
		rest, within := strings.CutPrefix(strings.TrimPrefix(path, "."), name)
		if !within || rest != "" && rest[0] != '.' && rest[0] != '[' {
			continue
		}
		if at, more := deepest(child, rest); len(more) < len(left) {
			found, left = at, more
		}
	}
	return found, left
}
