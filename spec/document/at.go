package document

// This file places problems that are found after a document was read, given the path of the value that they concern.

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// ProblemAt returns a problem with the value at a path of keys below the root, positioned there or at the longest part
// of the path that exists. It is not added to the findings.
func (f *Findings) ProblemAt(root Node, path string, p Problem) *Errors {
	at := &yaml.Node{}
	if root.Present() {
		found, _ := deepest(root, path)
		at = found.Heading()
		if found.Value.Kind == yaml.ScalarNode {
			at = found.Position()
		}
	}
	return &Errors{Problems: []Problem{f.withPosition(at, path, p).Problem}}
}

// deepest returns the node at a path below n, or at the longest part of the path that exists, and the rest of the path.
// Keys may contain dots.
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
