package histogram

// This file holds the scores by which an adaptive method's rounds choose: the distance of exact counts from what a
// model expects, in exact integers.

import (
	"context"
	"crypto/sha256"
	"math/bits"
	"runtime"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/spec"
)

const (
	// distanceLimit is the bound to which distances are clamped, and scoreLimit the bound of scores, above and below.
	distanceLimit = 1 << 62
	scoreLimit    = 1 << 61
	// modelLimit is the most that a model may expect of a cell, and penaltyLimit the most that may be subtracted from a
	// distance, in units of 1/adaptive.ModelScale.
	modelLimit   = 1 << 50
	penaltyLimit = 1 << 60
)

// scoreSensitivity returns the sensitivity of a score of this weight: weight times ModelScale for each row that a
// unit adds or removes, of which there are at most maxRows, and twice that many when one unit replaces another. It is
// at most 2·scoreLimit, the whole range of scores.
//
// Guarantee: whatever the model, the penalty and the classes. Neighbours: n. Theorem: the triangle inequality;
// clamping is 1-Lipschitz. Argument: docs/proofs/adaptive.md.
func scoreSensitivity(n spec.Neighbours, maxRows, weight int64) int64 {
	perRow := int64(adaptive.ModelScale)
	if n != spec.AddRemove {
		perRow *= 2
	}
	most := int64(2 * scoreLimit)
	for _, factor := range []int64{maxRows, weight} {
		if factor > most/perRow {
			return most
		}
		perRow *= factor
	}
	return perRow
}

// sensitivity returns the largest sensitivity of the scores of candidates.
func (x *oracle) sensitivity(candidates []int) int64 {
	most := int64(0)
	for _, c := range candidates {
		most = max(most, x.sensitivities[c])
	}
	return most
}

// checkQuestion checks the parts of a question, all of which are public.
func (x *oracle) checkQuestion(candidates []int, models [][]int64, penalties []int64) error {
	if len(candidates) == 0 || len(candidates) > len(x.counts) {
		return errCandidates
	}
	seen := make([]bool, len(x.counts))
	for _, c := range candidates {
		if c < 0 || c >= len(x.counts) || seen[c] {
			return errCandidates
		}
		seen[c] = true
	}
	if len(models) != len(candidates) || penalties != nil && len(penalties) != len(candidates) {
		return errModels
	}
	for _, p := range penalties {
		if p < 0 || p > penaltyLimit {
			return errModels
		}
	}
	for i, model := range models {
		if len(model) != len(x.counts[candidates[i]]) {
			return errModels
		}
		for _, m := range model {
			if m < 0 || m > modelLimit {
				return errModels
			}
		}
	}
	return nil
}

// scoreCandidates returns the candidates' scores, and a hash of candidates, models, penalties and scores.
func (x *oracle) scoreCandidates(ctx context.Context, candidates []int, models [][]int64,
	penalties []int64) (scores []int64, hash []byte, err error) {
	scores = make([]int64, len(candidates))
	hashes := make([][]byte, len(candidates))
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), len(candidates), func(i int) error {
		c, penalty := candidates[i], int64(0)
		if penalties != nil {
			penalty = penalties[i]
		}
		scores[i] = scoreOf(modelDistance(x.counts[c], models[i]), penalty, x.weights[c])
		question := sha256.New()
		question.Write(answer.HashOf([]int64{int64(c), penalty, scores[i]}))
		question.Write(answer.HashOf(models[i]))
		hashes[i] = question.Sum(nil)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	all := sha256.New()
	for _, h := range hashes {
		all.Write(h)
	}
	return scores, all.Sum(nil), nil
}

// scoreOf returns weight·(distance − penalty), clamped to ±scoreLimit, for a distance in [0, distanceLimit], a
// penalty in [0, penaltyLimit] and a weight of 1 or more.
func scoreOf(distance, penalty, weight int64) int64 {
	over := distance - penalty // no less than −2⁶⁰, no more than 2⁶²
	high, low := bits.Mul64(uint64(max(over, -over)), uint64(weight))
	if high != 0 || low > scoreLimit {
		low = scoreLimit
	}
	if over < 0 {
		return -int64(low)
	}
	return int64(low)
}

// modelDistance returns min(Σ|ModelScale·count − model|, distanceLimit) for counts of 0 or more and models in [0,
// modelLimit], exactly: as all terms are 0 or more, a partial sum or a term that reaches the limit decides.
func modelDistance(counts, model []int64) int64 {
	sum := int64(0)
	for i, c := range counts {
		high, scaled := bits.Mul64(uint64(c), adaptive.ModelScale)
		if high != 0 || scaled >= 1<<63 { // the term is 2⁶³ − 2⁵⁰ or more
			return distanceLimit
		}
		term := int64(scaled) - model[i]
		if term < 0 {
			term = -term
		}
		if term >= distanceLimit-sum {
			return distanceLimit
		}
		sum += term
	}
	return sum
}
