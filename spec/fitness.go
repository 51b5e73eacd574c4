package spec

// This file holds the classes of fitness: how precise a figure must be for which use, as the office says.

import (
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
	"math/big"
)

// FitClass is one of the classes into which published figures are sorted by how precise they are. A figure is in the first
// class whose AtMost its relative standard error, that of the noise beside the figure, does not pass.
type FitClass struct {
	Name string
	// AtMost is above 0, at most 1 and larger than that of the class before; nil in the last class, which takes the rest.
	AtMost *big.Rat
}

// The language of the classes.
const (
	fitRest      = "rest"    // in place of a bound: the class that takes the rest
	fitRestNamed = "not fit" // the name of that class where the spec has none
	mostFit      = 6         // classes with a bound
	maxFitName   = 40        // characters of a name
	fitSyntax    = `[\p{L}\p{N}]+([ _-][\p{L}\p{N}]+)*`
)

func fitShape() *shape.Shape {
	says := "a relative standard error, above 0 and at most 100%, as 5%; or rest, for what is less precise than every class before it"
	classes := shape.Dictionary("classes from the most precise to the least, each with the largest relative standard error of its figures, as {precise: 5%, usable: 20%}",
		`^`+fitSyntax+`$`, shape.Choice(says,
			shape.OnText(`^[a-z]`, shape.Enum(says, fitRest)),
			shape.OnScalar(shape.Number(says))))
	classes.Least, classes.Empty = 1, "at least one class, as {precise: 5%, usable: 20%}"
	return classes
}

// readFit reads the classes of fitness, none where the spec does not say: what a figure is precise enough for is for the
// office to say.
func (r *reader) readFit(n document.Node) {
	if !r.Sound(n) {
		return
	}
	rest := ""
	for _, class := range r.Entries(n) {
		name := class.Key.Value
		if len([]rune(name)) > maxFitName {
			r.Report(class.Key, class.Path, document.Problem{Message: fmt.Sprintf("a name of %d characters", len([]rune(name))), Expected: fmt.Sprintf("at most %d: it heads a column", maxFitName)})
			return
		}
		if rest != "" {
			r.Report(class.Key, class.Path, document.Problem{Message: fmt.Sprintf("class %q stands behind %q, which takes the rest", document.Clip(name), document.Clip(rest)), Expected: "the class with `rest` last"})
			return
		}
		if class.Text() == fitRest {
			if rest = name; len(r.release.Fit) == 0 {
				r.problem(class, document.Problem{Message: fmt.Sprintf("class %q takes the rest, and there is no other class", document.Clip(name)), Expected: "a class with a bound before it, as precise: 5%"})
				return
			}
			r.release.Fit = append(r.release.Fit, FitClass{Name: name})
			continue
		}
		if !r.readFitBound(class) {
			return
		}
	}
	if rest == "" {
		r.release.Fit = append(r.release.Fit, FitClass{Name: fitRestNamed})
	}
}

// readFitBound reads a class with its bound, and tells whether it is one.
func (r *reader) readFitBound(n document.Node) bool {
	name, one := n.Key.Value, big.NewRat(1, 1)
	bound, ok := r.number(n)
	if !ok {
		return false
	}
	p := document.Problem{Message: "a relative standard error of " + n.Text(), Expected: "above 0 and at most 100%, as 5%"}
	classes := r.release.Fit
	switch {
	case bound.Sign() <= 0:
	case bound.Cmp(one) > 0 && bound.Cmp(big.NewRat(100, 1)) <= 0 && n.IsNumber():
		p.Fix = name + ": " + n.Text() + "%"
	case bound.Cmp(one) > 0:
	case name == fitRestNamed:
		p = document.Problem{Message: fmt.Sprintf("%q is the class of what fits no other", name), Expected: "another name, or `rest` in place of a bound", Fix: name + ": " + fitRest}
	case len(classes) == mostFit:
		p = document.Problem{Message: fmt.Sprintf("more than %d classes", mostFit), Expected: "fewer: a reader must tell them apart at a glance"}
	case len(classes) > 0 && bound.Cmp(classes[len(classes)-1].AtMost) <= 0:
		before := classes[len(classes)-1]
		p = document.Problem{Message: fmt.Sprintf("class %q is at most %s, and %q before it %s", document.Clip(name), n.Text(), document.Clip(before.Name), formatShare(before.AtMost)), Expected: "the classes from the most precise to the least, each with a larger bound than the one before"}
	default:
		r.release.Fit = append(classes, FitClass{Name: name, AtMost: bound})
		return true
	}
	r.problem(n, p)
	return false
}
