package document

// This file holds problems that are found after a document was read, by the path of what they are about.

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// ProblemAt is a problem with what stands at a path of keys below the root, placed there or at the longest part of the
// path that is there. It is not added to the findings.
func (f *Findings) ProblemAt(root Node, path string, p Problem) *Errors {
	at := &yaml.Node{}
	if root.Present() {
		found, _ := deepest(root, path)
		at = found.Heading()
		if found.Value.Kind == yaml.ScalarNode {
			at = found.Position()
		}
	}
	return &Errors{Problems: []Problem{f.place(at, path, p).Problem}}
}

// deepest is the node at a path below another, or at the longest part of it that there is, and what of the path is
// left. Keys may have dots in them.
func deepest(n Node, path string) (found Node, left string) {
	found, left = n, path
	for _, child := range append(n.Pairs(), n.Items()...) {
		name := strings.TrimPrefix(child.Path, n.Path)
		if child.Key != nil {
			name = child.Key.Value
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
