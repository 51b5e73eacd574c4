package optimise

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what the tests of this package reach beside what it exports.

func (x *Blueprint) Divide(a0 []int, a1 *Division) (*Division, error) { return x.divide(a0, a1) }

var ChoiceFor = choiceFor

func (x Design) Amounts() []float64 { return x.amounts }

func (x Design) Guard() *guard { return x.guard }

func (x Design) Parts() []float64 { return x.parts }

func (x Division) About() bool { return x.about }

func (x Division) Choice() []int { return x.choice }

func (x *Division) Less(a0 *Division) bool { return x.less(a0) }

var FloatOf = floatOf

const GridBits = gridBits

func (x *Group) Residuals(a0 *spec.Release) (Design, string, error) { return x.residuals(a0) }

func (x *guard) Solve(a0 []float64) guarded { return x.solve(a0) }

func (x guardSearch) Best() guarded { return x.best }

func (x *guardSearch) Look() { x.look() }

func (x guarded) Bound() float64 { return x.bound }

func (x *guarded) Certified() bool { return x.certified() }

func (x guarded) Sum() float64 { return x.sum }

func (x guarded) Worst() float64 { return x.worst }

var NewGuardSearch = newGuardSearch

func (x Planned) Id() string { return x.id() }

func (x Planned) Measurement() plan.Measurement { return x.measurement() }

func (x Planned) Variance(a0 float64) float64 { return x.variance(a0) }
