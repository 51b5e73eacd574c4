package boosted_test

import (
	"context"
	"encoding/binary"
	"math/big"

	"github.com/dprelease/dprelease/histogram/internal/boosted"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/boosting"
)

// noisyOracle answers rounds with the noise of their shape, from a seed.
type noisyOracle struct {
	rows  *boosted.Rows
	shape *boosting.Shape
	seed  byte
}

func (o *noisyOracle) Answer(ctx context.Context, round int, q boosting.Question) ([]int64, error) {
	answer, err := o.rows.Answer(ctx, round, q)
	if err != nil {
		return nil, err
	}
	variance := o.shape.SumVariance
	if q.Scores == nil {
		variance = o.shape.CountVariance
	}
	if variance == 0 {
		return answer, nil
	}
	streams := noise.NewStreams(noise.Key{o.seed}, "")
	bits := streams.Noise(binary.BigEndian.AppendUint64(nil, uint64(round)), nil, 0)
	return answer, noise.AddDiscreteGaussian(bits, new(big.Rat).SetInt64(int64(variance)), answer)
}
