package describe

// This file gives this package's tests access to unexported names.

var Would = otherNoiseEffect

var Changed = changeMechanism

var Drops = dropsRows

var Exchanged = exchangeMechanism

var Facts = factsOf

var LossAt = lossAt

var RhoOf = rhoOf

var TogetherFrom = togetherFrom

var VisibleFrom = visibleFrom

var Way = measuredText

var OtherMethod = otherMethod

var Advice = adviceText

func (x planFact) Subject() string { return x.subject }

func (x planFact) Value() string { return x.value }

func (x planFact) What() string { return x.what }

var FactorsText = factorsText

var FalsePositiveRates = falsePositiveRates

const FirstTables = firstTables

var Large = sizeWarnings

var LineChanges = lineChanges

var Quoted = quoted

const SeparateLevels = separateLevels

var Weaknesses = weaknessWarnings
