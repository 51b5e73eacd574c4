package histogram

// This file holds the selection of groups whose categories are not listed.

import (
	"context"
	"runtime"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan/selection"
)

// selectedGroups returns the answer to a measurement of groups that are not listed: the groups that its selection
// releases, in the order of their keys, with their numbers of units and noise that is independent of the selection.
//
// Guarantee: each group with a unit is selected by itself with exactly the probability of [selection.Groups], and no
// other is; the noise on what is selected has the law of the measurement's mechanism and is independent of the
// selection. Neighbours: those of the mechanism's sensitivity, which differ by one in at most Discovery.Groups
// groups. Theorem: Desfontaines, Voss, Gipson & Mandayam 2022; Korolova, Kenthapadi, Mishra & Ntoulas 2009. Argument:
// docs/proofs/discover.md.
func (x *opened) selectedGroups(ctx context.Context, a exactAnswer) (measured.Measured, error) {
	d := a.measurement.Selection.(selection.Groups)
	kept, err := d.Probabilities()
	if err != nil {
		return measured.Measured{}, err
	}
	if a.Groups == nil || len(a.Cells) != len(a.Counts) ||
		slices.ContainsFunc(a.Counts, func(units int64) bool { return units < 1 }) {
		return measured.Measured{}, parallel.ErrBug
	}
	through := make([]bool, len(a.Counts))
	blocks := (len(through) + noise.BlockCells - 1) / noise.BlockCells
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), blocks, func(i int) error {
		from, to := i*noise.BlockCells, min((i+1)*noise.BlockCells, len(through))
		return selectGroups(x.streams.Selection(a.definition, a.hash, i), d, kept, a.Counts[from:to], through[from:to])
	})
	if err != nil {
		return measured.Measured{}, err
	}
	noisy, err := x.addNoise(ctx, a)
	if err != nil {
		return measured.Measured{}, err
	}
	values, keys := []int64{}, [][]string{}
	for i, yes := range through {
		if yes {
			values, keys = append(values, noisy[i]), append(keys, a.Groups.Keys(a.Cells[i]))
		}
	}
	return measured.Measured{Measurement: a.measurement, Values: int64Array(values), Keys: keys}, nil
}

// selectGroups decides for each group, given its number of units, whether it is selected.
func selectGroups(stream *noise.Bits, d selection.Groups, kept *selection.Probabilities, units []int64,
	through []bool) error {
	if probabilities := kept.Optimal(); probabilities != nil {
		for i, n := range units {
			through[i] = noise.Bernoulli(stream, probabilities[min(d.Counted(n), int64(len(probabilities)-1))])
		}
		return nil
	}
	counted := make([]int64, len(units))
	for i, n := range units {
		counted[i] = d.Counted(n)
	}
	noisy := slices.Clone(counted)
	if err := noise.AddDiscreteGaussian(stream, d.Select.Parameter, noisy); err != nil {
		return err
	}
	for i, n := range noisy {
		through[i] = counted[i] > 0 && n >= d.Threshold
	}
	return nil
}
