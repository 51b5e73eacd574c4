package page

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report/internal/words"
)

// This file describes a release that measures a sample of its units.

// errorHolds says what the standard errors include and what they do not.
func (r View) errorHolds() string {
	return words.Either(r.Guarantee.Sample != "",
		"The standard errors hold the noise and the drawing of the sample; response error is not in them.",
		"Sampling and response error do not enter into it.")
}

// errorsOf says what the errors are caused by.
func (r View) errorsOf() string {
	return "privacy noise" + words.When(r.Guarantee.Sample != "", " and secret sample")
}

// AttributeLoss explains the rows of the losses of attributes, and how these can be larger than the loss of the whole
// release.
func (r View) AttributeLoss() string {
	g := r.Guarantee
	return fmt.Sprintf("How much somebody who knows all else about a %s can learn of one attribute: the loss where that one value is another. The last row is of all of the %[1]s at once.",
		g.Protects) +
		words.Either(g.Sample != "", " As if every one were drawn for the sample.",
			words.When(g.Neighbours == "add-remove",
				fmt.Sprintf(" That row tells whether one %s is in the data or not. To learn a value of somebody is to learn more, so an attribute can lose more than that row.",
					g.Protects))) + " Rounded up."
}

// AttributeStep compares the step of another value with the step of being in the data or not, "" if they are the same.
func (r View) AttributeStep() string {
	g := r.Guarantee
	return words.When(g.Sample == "" && g.Neighbours == "add-remove",
		fmt.Sprintf("To have another value is a larger step: one %s taken away and one added. So an attribute can lose more than the last row, and a %[1]s whose whole record is another one loses more too: up to twice its ε where that is pure, up to four times its ρ.",
			g.Protects))
}

// sampleNotes say that a plan's errors exclude the sampling error.
func sampleNotes(s plan.Sample) []string {
	if !s.Partial() {
		return nil
	}
	return []string{"The release is measured on a sample of its units: the error of that sample comes on top."}
}
