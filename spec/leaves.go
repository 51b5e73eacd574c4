package spec

// This file resolves which leaf of the budget pays for what.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// readLeaf finds the leaf that pays for a marginal.
func (r *reader) readLeaf(n document.Node) string {
	leaves := r.leafPaths()
	if len(leaves) == 0 {
		return "" // already reported
	}
	at := n.Get("budget")
	split := leaves[0] != ""
	switch {
	case !at.Present() && (!split || !r.IsBuilt(n)):
		return "" // without a split no leaf has a name, and a part that is not built may be what pays
	case at.Present() && !split:
		r.AddProblem(at, document.Problem{Message: fmt.Sprintf("no leaf %q: the budget has no split",
			document.Clip(at.Text())),
			Expected: "no budget here, or a split of the budget"})
		return ""
	}
	name, on := n.Key.Value, n.KeyNode()
	if at.Present() {
		name, on = at.Text(), at
	}
	leaf, candidates := r.findLeaf(name)
	if leaf != "" {
		return leaf
	}
	p := document.Problem{Message: fmt.Sprintf("no leaf %q in the budget", document.Clip(name)),
		Expected: document.OneOf(leaves)}
	switch {
	case len(candidates) > 0:
		p = ambiguousLeafProblem(name, candidates)
	case !at.Present():
		p.Message = fmt.Sprintf("nothing says which leaf pays for %s, and no leaf has its name", name)
		p.Fix = "budget: " + leaves[0]
	default:
		p = r.WithNearest(at, p, r.Nearest(name, leaves))
	}
	r.AddProblem(on, p)
	return ""
}

// ambiguousLeafProblem returns the problem of a name that several leaves have.
func ambiguousLeafProblem(name string, candidates []string) document.Problem {
	return document.Problem{
		Message:  fmt.Sprintf("leaf %q is there more than once", name),
		Expected: document.OneOf(candidates), Fix: "budget: " + candidates[0],
	}
}

// findLeaf finds the leaf that a marginal names: by its full path, or by its last name if that is unique.
func (r *reader) findLeaf(name string) (found string, candidates []string) {
	for _, l := range r.release.Budget.Leaves {
		if r.isExtra(l.Path) {
			continue
		}
		if l.Path == name {
			return name, nil
		}
		if l.Path[strings.LastIndex(l.Path, ".")+1:] == name {
			candidates = append(candidates, l.Path)
		}
	}
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	return "", candidates
}

// leafPaths returns the paths of all leaves of the split.
func (r *reader) leafPaths() []string {
	var paths []string
	for _, l := range r.release.Budget.Leaves {
		if !r.isExtra(l.Path) {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

// checkLeavesUsed reports leaves that pay for nothing. It reports none if a part with a problem, or one that is not
// built, might use them.
func (r *reader) checkLeavesUsed(root document.Node) {
	budget := root.Get("budget")
	r.SpreadMarks(root.Value)
	if len(r.Unbuilt()) > 0 {
		return
	}
	asks := false
	for _, key := range []string{"marginals", "synthetic", "models"} {
		n := root.Get(key)
		if asks = asks || n.Present(); n.Present() && !r.IsSound(n) {
			return
		}
	}
	if !asks {
		return // already reported
	}
	used := map[string]bool{}
	for _, m := range r.release.Marginals {
		for _, leaf := range m.PaidBy() {
			used[leaf] = true
		}
	}
	for _, s := range r.release.Synthetic {
		used[s.Leaf] = true
	}
	for _, m := range r.release.Models {
		used[m.Leaf] = used[m.Leaf] || !m.FromTables
	}
	for _, l := range r.release.Budget.Leaves {
		if used[l.Path] || l.Path == "" || r.isExtra(l.Path) {
			continue
		}
		at := budget.Get("split")
		for i, key := range strings.Split(l.Path, ".") {
			if i > 0 {
				at = at.Get("split")
			}
			at = at.Get(key)
		}
		p := document.Problem{
			Message: fmt.Sprintf("nothing uses leaf %q", l.Path),
			Expected: "a marginal, microdata or a model with budget: " + l.Path +
				", or the leaf's share given to others",
		}
		if l.Needed {
			p.Expected = "a marginal with budget: " + l.Path + " and a target, or no such leaf"
		}
		r.WrongKey(at, p)
	}
}

// isExtra reports whether a leaf pays for an extra.
func (r *reader) isExtra(path string) bool {
	return slices.Contains(slices.Collect(maps.Values(r.extras)), path)
}
