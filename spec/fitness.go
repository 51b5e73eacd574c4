package spec

// This file reads the classes of fitness: how precise a figure must be for which use.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/spec/document"
)

// readFit reads the classes of fitness. Without them in the spec there are none: only the publisher can say what a
// figure must be precise enough for.
func (r *reader) readFit(n document.Node) {
	if !r.IsSound(n) {
		return
	}
	rest := ""
	for _, class := range r.Entries(n) {
		name := class.Key.Value
		switch {
		case len([]rune(name)) > maxFitName:
			r.WrongKey(class, document.Problem{Message: fmt.Sprintf("a name of %d characters", len([]rune(name))),
				Expected: fmt.Sprintf("at most %d: it heads a column", maxFitName)})
			return
		case rest != "":
			r.WrongKey(class, document.Problem{Message: fmt.Sprintf("class %q stands behind %q, which takes the rest",
				document.Clip(name), document.Clip(rest)), Expected: "the class with `rest` last"})
			return
		case class.Text() != fitRest:
			if !r.readFitBound(class) {
				return
			}
		case len(r.release.Fit) == 0:
			r.AddProblem(class, document.Problem{Message: fmt.Sprintf("class %q takes the rest, and there is no "+
				"other class",
				document.Clip(name)), Expected: "a class with a bound before it, such as precise: 5%"})
			return
		default:
			rest = name
			r.release.Fit = append(r.release.Fit, FitClass{Name: name})
		}
	}
	if rest == "" {
		r.release.Fit = append(r.release.Fit, FitClass{Name: fitRestNamed})
	}
}

// readFitBound reads a class with its bound. It returns false and reports a problem if the class is invalid.
func (r *reader) readFitBound(n document.Node) bool {
	name, one := n.Key.Value, big.NewRat(1, 1)
	bound, ok := r.Number(n)
	if !ok {
		return false
	}
	p := document.Problem{Message: "a relative standard error of " + n.Text(),
		Expected: "above 0 and at most 100%, such as 5%"}
	classes := r.release.Fit
	switch {
	case bound.Sign() <= 0:
	case bound.Cmp(one) > 0 && bound.Cmp(big.NewRat(100, 1)) <= 0 && n.IsNumber():
		p.Fix = name + ": " + n.Text() + "%"
	case bound.Cmp(one) > 0:
	case name == fitRestNamed:
		p = document.Problem{Message: fmt.Sprintf("%q is the class of what fits no other", name),
			Expected: "another name, or `rest` in place of a bound", Fix: name + ": " + fitRest}
	case len(classes) == mostFit:
		p = document.Problem{Message: fmt.Sprintf("more than %d classes", mostFit),
			Expected: "fewer: a reader must distinguish them at a glance"}
	case len(classes) > 0 && bound.Cmp(classes[len(classes)-1].AtMost) <= 0:
		before := classes[len(classes)-1]
		p = document.Problem{Message: fmt.Sprintf("class %q is at most %s, and %q before it %s", document.Clip(name),
			n.Text(), document.Clip(before.Name), document.FormatShare(before.AtMost)),
			Expected: "the classes from the most precise to the least, each with a larger bound than the one before"}
	default:
		r.release.Fit = append(classes, FitClass{Name: name, AtMost: bound})
		return true
	}
	r.AddProblem(n, p)
	return false
}
