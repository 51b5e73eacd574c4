package trace

import (
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/synth"
)

// cellTraces lists how a cell is traced, by how the cells of its table are selected.

var cellTraces = [selection.Kinds]func(t *Trace, e *published.Release, reader *synth.Reader, table int, codes []string,
	answers []measured.Measured) error{
	selection.KindAll:    (*Trace).declaredCell,
	selection.KindAbove:  (*Trace).sparseCell,
	selection.KindTop:    (*Trace).topCell,
	selection.KindGroups: (*Trace).groupCell,
	selection.KindTexts:  (*Trace).foundCell,
}
