package planner

// This file holds what the tests of this package reach beside what it exports.

var EvenSize = evenSize

var NeededLeaves = neededLeaves

var Predict = predict

var X = x

var FloatOfRat = floatOfRat

var Judge = judge

var MissedBy = missedBy

var Traced = traced
