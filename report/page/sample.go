package page

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report/internal/words"
)

// This file describes a release that measures a sample of its units.

// errorHolds says what the standard errors include and what they do not.
func (r View) errorHolds() string {
	l := r.In()
	return words.Either(r.Guarantee.Sample != "",
		l.Text("The standard errors include the noise and the drawing of the sample, but no response error."),
		l.Text("Sampling and response error are not included."))
}

// errorsOf says what the errors are caused by.
func (r View) errorsOf() string {
	return "privacy noise" + words.When(r.Guarantee.Sample != "", " and secret sample")
}

// AttributeLoss explains the rows of the losses of attributes.
func (r View) AttributeLoss() string {
	l, g := r.In(), r.Guarantee
	return l.Text("Each row bounds how much one attribute of a %s can change what is published: it is the loss if "+
		"only that value changes, and everything else about this %[1]s and all others is known. The last row is for "+
		"the whole %[1]s.",
		g.Protects) +
		" " + words.Either(len(r.Microdata) > 0,
		l.Text("The column “tables” counts the tables in which the attribute decides where, or whether, a row "+
			"counts. Microdata that contain the attribute count as a table. Figures that are computed from its "+
			"values add to the loss, but not to this number."),
		l.Text("The column “tables” counts the tables in which the attribute decides where, or whether, a row "+
			"counts. Figures that are computed from its values add to the loss, but not to this number.")) +
		words.When(len(r.Models) > 0, " "+l.Text("A model counts as a table.")) + " " +
		l.Text("All losses are rounded up.")
}

// LargerLoss says why the loss of an attribute can be larger than the loss of the whole release; "" if it cannot.
func (r View) LargerLoss() string {
	l, g := r.In(), r.Guarantee
	if g.Neighbours != "add-remove" {
		return ""
	}
	if g.Sample != "" {
		return l.Text("An attribute can have a larger ε than the whole release, for two reasons. The losses of "+
			"attributes are stated for a %s who is in the sample, while the ε of the whole release counts on it being "+
			"secret who is. And a changed value counts as one %[1]s removed and another added, while the whole "+
			"release is about one step: a %[1]s in the data or not.",
			g.Protects)
	}
	return l.Text("An attribute can lose more than the whole release, because a changed value is a larger step than a "+
		"%s who is in the data or not: it counts as one %[1]s removed and another added.",
		g.Protects) + " " + r.recordLoss()
}

// recordLoss bounds the loss if the whole record of a unit changes, where neighbours add or remove a unit: that is a
// group of two, which loses twice a pure ε (Dwork and Roth 2014, theorem 2.2), and four times a ρ (Bun and Steinke
// 2016, proposition 1.9).
func (r View) recordLoss() string {
	l, whole := r.In(), r.Certificate.Loss.Whole
	times := func(n int64, loss string) string {
		exact := words.Exact(loss)
		if exact == nil {
			return loss
		}
		return l.Number(budget.DecimalUp(exact.Mul(exact, new(big.Rat).SetInt64(n)), 4))
	}
	if whole.Epsilon != "" {
		return l.Text("If the whole record of a %s changes, the pure ε is at most %s, which is twice that of the last row.",
			r.Guarantee.Protects, times(2, whole.Epsilon))
	}
	return l.Text("If the whole record of a %s changes, the ρ is at most %s, which is four times that of the last row.",
		r.Guarantee.Protects, times(4, whole.Rho))
}

// sampleNotes say that a plan's errors exclude the sampling error.
func sampleNotes(s plan.Sample) []string {
	if !s.Partial() {
		return nil
	}
	return []string{"The release is measured on a sample of its units: the error of that sample comes on top."}
}
