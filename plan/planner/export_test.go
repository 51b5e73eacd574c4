package planner

import "github.com/dprelease/dprelease/plan/compiled"

// This file gives this package's tests access to unexported names.

var EvenSize = evenSize

var NeededLeaves = neededLeaves

var Predict = predict

var X = leafPrecision

var FloatOfRat = floatOfRat

var Judge = checkWithSecondAccountant

var MissedBy = missedBy

var Traced = traced

var Refill = reusePlan

// MadeHere remembers a plan as one that the planner made.
func MadeHere(c *compiled.Compiled) { madeHere.add(c) }
