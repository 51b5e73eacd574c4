package optimise

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/spec"
)

// This file gives this package's tests access to unexported names.

func (x *Blueprint) Divide(a0 []int, a1 *Division) (*Division, error) { return x.divideBudget(a0, a1) }

var ChoiceFor = choiceFor

func (x Design) Amounts() []float64 { return x.guardAmounts }

func (x Design) Guard() *guard { return x.guard }

func (x Design) Parts() []float64 { return x.parts }

func (x Division) About() bool { return x.isRough }

func (x Division) Choice() []int { return x.choice }

func (x *Division) Less(a0 *Division) bool { return x.isBetter(a0) }

var FloatOf = floatOf

const GridBits = gridBits

func (x *Group) Residuals(a0 *spec.Release) (Design, phrase.Phrase, error) {
	return x.designResiduals(a0)
}

func (x *guard) Solve(a0 []float64) guardSolution { return x.solve(a0) }

func (x guardSearch) Best() guardSolution { return x.best }

func (x *guardSearch) Look() { x.evaluate() }

func (x guardSolution) Bound() float64 { return x.bound }

func (x *guardSolution) Certified() bool { return x.isCertified() }

func (x guardSolution) Sum() float64 { return x.sum }

func (x guardSolution) Worst() float64 { return x.worst }

var NewGuardSearch = newGuardSearch

func (x PlannedMeasurement) Id() string { return x.id() }

func (x PlannedMeasurement) Measurement() plan.Measurement { return x.withoutMechanism() }

func (x PlannedMeasurement) Variance(a0 float64) float64 { return x.variance(a0) }
