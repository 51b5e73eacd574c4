package diff

import "github.com/dprelease/dprelease/plan/selection"

// This file lists how tables are compared, by the selection of their cells.

// selectedByNoise lists, by selection, whether the noise of the figures themselves decides which cells are published.
var selectedByNoise = [selection.Kinds]bool{
	selection.KindAll:    false,
	selection.KindAbove:  true,
	selection.KindTop:    false,
	selection.KindGroups: false,
	selection.KindTexts:  false,
}
