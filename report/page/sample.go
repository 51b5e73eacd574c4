package page

import (
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

// AttributeLoss explains the rows of the losses of attributes, and how these can be larger than the loss of the whole
// release.
func (r View) AttributeLoss() string {
	l, g := r.In(), r.Guarantee
	return l.Text("Each row bounds how much one attribute of a %s can change what is published: it is the loss if only that value changes, and everything else about this %[1]s and all others is known. The last row is for the whole %[1]s.",
		g.Protects) +
		words.Either(g.Sample != "", " "+l.Text("All losses are stated as if everyone were drawn for the sample."),
			words.When(g.Neighbours == "add-remove",
				" "+l.Text("That row compares the data with and without the %s. A changed value is a larger step, as if one %[1]s were removed and another added, so the loss of an attribute can be larger than that row. If the whole record of a %[1]s changes, the loss is at most twice the ε of pure differential privacy, or four times the ρ.",
					g.Protects))) +
		" " + words.Either(len(r.Microdata) > 0,
		l.Text("The column “tables” counts the tables in which the attribute decides where a row counts, or whether it counts, and the microdata that contain it. Figures that are computed from its values add to the loss, but not to this number."),
		l.Text("The column “tables” counts the tables in which the attribute decides where a row counts, or whether it counts. Figures that are computed from its values add to the loss, but not to this number.")) +
		" " + l.Text("All losses are rounded up.")
}

// sampleNotes say that a plan's errors exclude the sampling error.
func sampleNotes(s plan.Sample) []string {
	if !s.Partial() {
		return nil
	}
	return []string{"The release is measured on a sample of its units: the error of that sample comes on top."}
}
