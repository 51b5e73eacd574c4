package spec

// This file reads targets, and checks the leaves that depend on them.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// readTarget reads the required accuracy of a table, nil if the spec gives none.
func (r *reader) readTarget(n document.Node) *Target {
	if !r.IsSound(n) {
		return nil
	}
	t := &Target{Confidence: big.NewRat(95, 100), AllCells: n.Get("of").Is(allCells)}
	var ok bool
	margin := n.Get("margin")
	if t.Margin, ok = r.Number(margin); !ok {
		return nil
	}
	if t.Margin.Sign() <= 0 {
		r.AddProblem(margin, document.Problem{Message: "the margin is " + margin.Text(),
			Expected: "more than zero: how far from the exact figure a cell may lie, such as 500"})
	}
	if !r.readRelative(t, n) {
		return nil
	}
	if confidence := n.Get("confidence"); confidence.Present() {
		if t.Confidence, ok = r.Number(confidence); !ok {
			return nil
		}
		r.checkConfidence(confidence, t.Confidence)
	}
	return t
}

// readRelative reads the size of the cell of which a margin is a percentage, and converts the margin to a number. It
// returns false and reports a problem if one is given without the other.
func (r *reader) readRelative(t *Target, n document.Node) bool {
	margin, at := n.Get("margin"), n.Get("at")
	percentage := strings.HasSuffix(margin.Text(), "%")
	switch {
	case percentage && !at.Present():
		r.AddProblem(margin, document.Problem{
			Message:  "the margin is " + margin.Text() + " of a cell whose size nothing says",
			Expected: "the size of a cell that the percentage is of, or a number of rows",
			Fix:      "margin: " + margin.Text() + ", at: 1000",
		})
		return false
	case !at.Present():
		return true
	case !percentage:
		r.AddProblem(at, document.Problem{
			Message: "`at` is the size of a cell that the margin is a percentage of, and the margin is " +
				margin.Text(),
			Expected: "a margin in percent, or no `at`",
			Fix:      "margin: 5%, at: " + at.Text(),
		})
		return false
	}
	size, ok := r.Number(at)
	if ok && size.Sign() <= 0 {
		r.AddProblem(at, document.Problem{Message: "at is " + at.Text(),
			Expected: "more than zero: the size of the cell that the margin is a percentage of"})
		return false
	}
	if ok {
		t.Share, t.At, t.Margin = t.Margin, size, new(big.Rat).Mul(t.Margin, size)
	}
	return ok
}

// checkConfidence reports a confidence outside the range from one half to below 1.
func (r *reader) checkConfidence(n document.Node, x *big.Rat) {
	one, half := big.NewRat(1, 1), big.NewRat(1, 2)
	p := document.Problem{Message: "the confidence is " + n.Text(), Expected: "from 50% to below 100%, such as 95%"}
	switch {
	case x.Cmp(half) >= 0 && x.Cmp(one) < 0:
		return
	case x.Cmp(big.NewRat(50, 1)) >= 0 && x.Cmp(big.NewRat(100, 1)) < 0 && n.IsNumber():
		p.Fix = "confidence: " + n.Text() + "%"
	}
	r.AddProblem(n, p)
}

// checkNeeded reports leaves that get what targets need and that pay for something without a target.
func (r *reader) checkNeeded(root document.Node) {
	for _, l := range r.release.Budget.Leaves {
		if !l.Needed {
			continue
		}
		for _, m := range r.release.Marginals {
			n := root.Get("marginals").Get(m.Name)
			if !slices.Contains(m.PaidBy(), l.Path) || n.Get("target").Present() {
				continue
			}
			p := document.Problem{
				Message: fmt.Sprintf("leaf %q gets what the targets of its marginals need, and %s has none", l.Path,
					m.Name),
				Expected: "a target, or another leaf", Fix: "target: {margin: 100}",
			}
			if m.hasOtherStatistics() || m.PerUnit != (PerUnit{}) {
				p.Expected, p.Fix = "another leaf: this marginal cannot have a target", ""
			}
			r.WrongKey(n, p)
		}
		for _, s := range r.release.Synthetic {
			if s.Leaf != l.Path {
				continue
			}
			n := root.Get("synthetic").Get(s.Table)
			r.AddProblem(n.Get("budget").Or(n.KeyNode()), document.Problem{
				Message:  fmt.Sprintf("leaf %q gets what targets need, and microdata have none", l.Path),
				Expected: "a leaf with a share or an amount",
			})
		}
		for _, m := range r.release.Models {
			if m.Leaf == l.Path && !m.FromTables {
				n := root.Get("models").Get(m.Name)
				r.AddProblem(n.Get("budget").Or(n.KeyNode()), document.Problem{
					Message:  fmt.Sprintf("leaf %q gets what targets need, and models have none", l.Path),
					Expected: "a leaf with a share or an amount"})
			}
		}
	}
}
