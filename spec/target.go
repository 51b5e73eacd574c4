package spec

// This file holds the reading of targets, and of the leaves that they decide.

import (
	"fmt"
	"math/big"
	"strings"
)

// readTarget reads how good a table must be, nil where the spec does not say.
func (r *reader) readTarget(n node) *Target {
	if !r.sound(n) {
		return nil
	}
	t := &Target{Confidence: big.NewRat(95, 100), AllCells: n.get("of").present() && n.get("of").text() == allCells, Line: n.key.Line}
	var ok bool
	margin := n.get("margin")
	if t.Margin, ok = r.number(margin); !ok {
		return nil
	}
	if t.Margin.Sign() <= 0 {
		r.problem(margin, Problem{Message: "the margin is " + margin.text(), Expected: "more than zero: how far from the exact figure a cell may lie, as 500"})
	}
	if !r.readRelative(t, n) {
		return nil
	}
	if confidence := n.get("confidence"); confidence.present() {
		if t.Confidence, ok = r.number(confidence); !ok {
			return nil
		}
		r.checkConfidence(confidence, t.Confidence)
	}
	return t
}

// readRelative reads the size of the cell that a margin is a percentage of, and makes the margin that percentage of it. It is
// false where one is without the other.
func (r *reader) readRelative(t *Target, n node) bool {
	margin, at := n.get("margin"), n.get("at")
	percentage := strings.HasSuffix(margin.text(), "%")
	switch {
	case percentage && !at.present():
		r.problem(margin, Problem{
			Message:  "the margin is " + margin.text() + " of a cell whose size nothing says",
			Expected: "the size of a cell that the percentage is of, or a number of rows",
			Fix:      "margin: " + margin.text() + ", at: 1000",
		})
		return false
	case !at.present():
		return true
	case !percentage:
		r.problem(at, Problem{
			Message:  "`at` is the size of a cell that the margin is a percentage of, and the margin is " + margin.text(),
			Expected: "a margin in percent, or no `at`",
			Fix:      "margin: 5%, at: " + at.text(),
		})
		return false
	}
	size, ok := r.number(at)
	if ok && size.Sign() <= 0 {
		r.problem(at, Problem{Message: "at is " + at.text(), Expected: "more than zero: the size of the cell that the margin is a percentage of"})
		ok = false
	}
	if ok {
		t.Share, t.At, t.Margin = t.Margin, size, new(big.Rat).Mul(t.Margin, size)
	}
	return ok
}

// checkConfidence reports a confidence that is none: it is from a half to below 1.
func (r *reader) checkConfidence(n node, x *big.Rat) {
	one, half := big.NewRat(1, 1), big.NewRat(1, 2)
	p := Problem{Message: "the confidence is " + n.text(), Expected: "from 50% to below 100%, as 95%"}
	switch {
	case x.Cmp(half) >= 0 && x.Cmp(one) < 0:
		return
	case x.Cmp(big.NewRat(50, 1)) >= 0 && x.Cmp(big.NewRat(100, 1)) < 0 && n.isNumber():
		p.Fix = "confidence: " + n.text() + "%"
	}
	r.problem(n, p)
}

// checkNeeded reports leaves that get what targets need and pay for something without one.
func (r *reader) checkNeeded(root node) {
	for _, l := range r.release.Budget.Leaves {
		if !l.Needed {
			continue
		}
		for _, m := range r.release.Marginals {
			n := root.get("marginals").get(m.Name)
			if m.Leaf != l.Path || n.get("target").present() {
				continue
			}
			p := Problem{
				Message:  fmt.Sprintf("leaf %q gets what the targets of its marginals need, and %s has none", l.Path, m.Name),
				Expected: "a target, or another leaf", Fix: "target: {margin: 100}",
			}
			if m.beyondCounts() || m.PerUnit != (PerUnit{}) {
				p.Expected, p.Fix = "another leaf: this marginal cannot have a target", ""
			}
			r.report(n.key, n.path, p)
		}
		for _, s := range r.release.Synthetic {
			if s.Leaf != l.Path {
				continue
			}
			n := root.get("synthetic").get(s.Table)
			at := node{value: n.key, path: n.path}
			if budget := n.get("budget"); budget.present() {
				at = budget
			}
			r.problem(at, Problem{
				Message:  fmt.Sprintf("leaf %q gets what targets need, and microdata have none", l.Path),
				Expected: "a leaf with a share or an amount",
			})
		}
	}
}
