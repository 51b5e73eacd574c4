package boosting

// This file holds Bins: by which scores held-out rows are counted.

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// ScoreBins is the number of bins by which held-out rows of a model of a class are counted.
const ScoreBins = 24

// Bins are the bins of scores of link [Logit]. They are narrow where most rows are, so that rows of both classes share
// few bins: of equal width in 1/(1 + exp(−(score − c))). The centre c is near half of the intercept of a centred model,
// which is about the log-odds of the class if scores spread as usual, and is such that score 0, the chance of one half,
// is an edge.
type Bins struct {
	// Edges are ascending: bin i is of scores from Edges[i-1], and below Edges[i]. The first bin is open below, the
	// last above.
	Edges [ScoreBins - 1]int32
	Half  int // the first bin of scores from 0
}

// NewBins returns the bins of a model with an intercept, in units of 1/[ScoreUnit].
func NewBins(intercept int32) Bins {
	share := 1 / (1 + budget.Exp(float64(intercept)/ScoreUnit/2))
	half := int(min(max(math.Round(float64(share*ScoreBins)), 1), ScoreBins-1))
	b := Bins{Half: half}
	centre := logOdds(half)
	for i := range b.Edges {
		b.Edges[i] = int32(math.Round(float64((logOdds(i+1) - centre) * ScoreUnit)))
	}
	return b
}

// logOdds returns the log-odds of i/ScoreBins.
func logOdds(i int) float64 { return budget.Log(float64(i) / float64(ScoreBins-i)) }

// Of returns the bin of a score.
func (b *Bins) Of(score int32) (bin int) {
	for bin < len(b.Edges) && b.Edges[bin] <= score {
		bin++
	}
	return bin
}
