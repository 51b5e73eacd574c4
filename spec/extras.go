package spec

// This file reads the extras that a release pays for in addition to tables and microdata: suggestions of bounds, and
// counts of what is left out. Each has its own leaf of the budget, whose share is taken from the whole before the
// split.

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

const (
	boundsKey      = "bounds"
	diagnosticsKey = "diagnostics"
)

// extra is a leaf outside the split.
type extra struct {
	document.Node
	path  string
	share *big.Rat
}

// readExtras reads the extras of a release, in document order.
func (r *reader) readExtras(root document.Node) (all []extra) {
	take := func(n document.Node, key, path string) {
		if !r.IsSound(n) {
			return
		}
		at := n.Get(key)
		x, ok := r.Number(at)
		switch {
		case !ok:
		case x.Sign() <= 0 || x.Cmp(big.NewRat(1, 1)) >= 0:
			p := document.Problem{Message: key + " is " + at.Text(),
				Expected: "a share of the whole budget above 0 and below 1, such as 1%"}
			if x.Sign() > 0 && at.IsNumber() && x.Cmp(big.NewRat(100, 1)) < 0 {
				p.Fix = key + ": " + at.Text() + "%"
			}
			r.AddProblem(at, p)
		default:
			all = append(all, extra{n, path, x})
			r.extras[n.Path] = path
		}
	}
	tables := r.Entries(root.Get("tables"))
	for _, t := range tables {
		key := boundsKey + "."
		if len(tables) > 1 { // several tables may have a column of the same name
			key += t.Key.Value + "."
		}
		for _, c := range r.Entries(t.Get("columns")) {
			take(c.Get("bounds"), "suggest", key+c.Key.Value)
		}
	}
	if n := root.Get("diagnostics"); n.Present() {
		if take(n, "share", diagnosticsKey); r.extras[n.Path] != "" {
			r.release.Diagnostics = diagnosticsKey
		}
	}
	return all
}

// shareWithoutExtras returns the share of the budget that the extras leave for the split. It returns nil and reports a
// problem if they leave nothing.
func (r *reader) shareWithoutExtras(extras []extra) (rest *big.Rat) {
	rest = big.NewRat(1, 1)
	for _, e := range extras {
		if rest.Sub(rest, e.share); rest.Sign() <= 0 {
			r.AddProblem(e.Node, document.Problem{Message: "what is bought in addition to tables leaves them nothing",
				Expected: "shares of bounds and diagnostics that add up to less than 1"})
			return nil
		}
	}
	return rest
}

// addExtras adds the leaves of the extras to a budget whose other leaves share the rest.
func (r *reader) addExtras(b *Budget, extras []extra, rest *big.Rat) {
	if len(extras) == 0 {
		return
	}
	parts := b.Split
	b.Split = []Part{{Share: rest, Parts: parts}}
	if len(parts) == 1 && parts[0].Path == "" {
		b.Split[0].Parts = nil
	}
	for _, e := range extras {
		for _, l := range b.Leaves {
			if l.Path == e.path || strings.HasPrefix(l.Path, e.path+".") {
				r.Report(e.Key, e.Node.Path,
					document.Problem{Message: fmt.Sprintf("the split has a leaf %q, and what is bought here has a "+
						"leaf of that name",
						l.Path), Expected: "another name in the split"})
			}
		}
		b.Leaves = append(b.Leaves, Leaf{Path: e.path, Share: e.share})
		b.Split = append(b.Split, Part{Path: e.path, Share: e.share})
	}
}

// checkSuggested reports suggestions of bounds for columns without a lattice.
func (r *reader) checkSuggested(root document.Node, t *Table) {
	columns := root.Get("tables").Get(t.Name).Get("columns")
	for _, c := range t.Columns {
		if c.Suggest != "" {
			r.requireLattice(root, t, c, columns.Get(c.Name).Get("bounds").KeyNode(), "bounds")
		}
	}
}
