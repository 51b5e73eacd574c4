package describe

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds what a plan says of how answers are given out, by kind.

// selecting lists what is said of what a selection runs: how its line in the list of costs ends, and what it costs
// together with the noise of the answers.
var selecting = [selection.Kinds]struct {
	line string
	cost func(s selection.Selection, noise budget.Mechanism) string
}{
	selection.KindAll:    {cost: costOfNoise},
	selection.KindAbove:  {cost: costOfNoise},
	selection.KindTop:    {", choices of cells", costOfChoices},
	selection.KindGroups: {", selection of groups", costOfGroups},
}

func costOfNoise(_ selection.Selection, noise budget.Mechanism) string { return CostText(noise, 1) }

func costOfGroups(s selection.Selection, noise budget.Mechanism) string {
	return costOfAll(append(s.Steps(), noise))
}
