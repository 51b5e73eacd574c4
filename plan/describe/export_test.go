package describe

// This file holds what the tests of this package reach beside what it exports.

var Would = would

var Changed = changed

var Drops = drops

var Exchanged = exchanged

var Facts = facts

var LossAt = lossAt

var RhoOf = rhoOf

var TogetherFrom = togetherFrom

var VisibleFrom = visibleFrom

var Way = way

var OtherMethod = otherMethod

var Advice = advice

func (x fact) Subject() string { return x.subject }

func (x fact) Value() string { return x.value }

func (x fact) What() string { return x.what }

var FactorsText = factorsText

var FalsePositiveRates = falsePositiveRates

const FirstTables = firstTables

var Large = large

var LineChanges = lineChanges

var Quoted = quoted

const SeparateLevels = separateLevels

var Weaknesses = weaknesses
