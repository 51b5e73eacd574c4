package diff

import "github.com/dprelease/dprelease/plan/selection"

// This file lists how tables are compared, by which of their cells they have.

// byNoise lists whether the noise of the figures itself decides which cells are published.
var byNoise = [selection.Kinds]bool{
	selection.KindAll:    false,
	selection.KindAbove:  true,
	selection.KindTop:    false,
	selection.KindGroups: false,
}
