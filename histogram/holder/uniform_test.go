package holder

import (
	"crypto/cipher"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// This file compares what a coordinator and one who lacks only the last holder's share see with uniform bytes. Each
// check is a χ² statistic of 255 degrees of freedom over 2^16 bytes, which raises an alarm beyond the quantile of
// 1 − 10^−12 of its law. There are 136, so that the test fails by chance once in 7·10^9 runs. Planted faults must be
// detected with the same draws. All but the last make a checked byte take at most two values, so that none is missed;
// for the last, the probability of a miss is bounded.

const (
	alarm  = 1e-12
	cells  = 1 << 16
	shared = 5 // holders
)

// masker masks values, or has a fault.
type masker func(t *testing.T, m *Masks, measurement string, values []uint64)

func honest(t *testing.T, m *Masks, measurement string, values []uint64) {
	if err := m.Mask([]byte(measurement), values); err != nil {
		t.Fatal(err)
	}
}

// streamsOf returns the streams of a measurement, for a fault to change.
func streamsOf(t *testing.T, m *Masks, measurement string) []stream {
	s, err := m.streams([]byte(measurement))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// low is a stream of which the upper half of each word is missing.
type low struct{ cipher.Stream }

func (s low) XORKeyStream(to, from []byte) {
	s.Stream.XORKeyStream(to, from)
	for i := range to {
		if i%8 >= 4 {
			to[i] = 0
		}
	}
}

const sparse = 64 // every so many words lack a mask

// gaps is a stream in which every 64th word is missing.
type gaps struct{ cipher.Stream }

func (s gaps) XORKeyStream(to, from []byte) {
	s.Stream.XORKeyStream(to, from)
	for i := 0; i < len(to); i += 8 * sparse {
		clear(to[i : i+8])
	}
}

// faults are maskers with a fault, and the check that notices it.
var faults = map[string]struct {
	mask  masker
	check string
}{
	"no mask": {func(*testing.T, *Masks, string, []uint64) {}, "values"},
	"a mask forgotten": {func(t *testing.T, m *Masks, measurement string, values []uint64) {
		maskBlocks(streamsOf(t, m, measurement)[:shared-2], values) // the one with the last holder
	}, "sum of all but one"},
	"one stream for two rolls": {func(t *testing.T, m *Masks, measurement string, values []uint64) {
		same := *m
		same.hash, same.roll.PlanHash = "", ""
		maskBlocks(streamsOf(t, &same, measurement), values)
	}, "two runs"},
	"one stream for all measurements": {func(t *testing.T, m *Masks, _ string, values []uint64) {
		maskBlocks(streamsOf(t, m, ""), values)
	}, "two measurements"},
	"one block for all": {func(t *testing.T, m *Masks, measurement string, values []uint64) {
		for block := range slices.Chunk(values, blockWords) {
			maskBlocks(streamsOf(t, m, measurement), block)
		}
	}, "two blocks"},
	"half words": {func(t *testing.T, m *Masks, measurement string, values []uint64) {
		streams := streamsOf(t, m, measurement)
		for i := range streams {
			streams[i].keystream = low{streams[i].keystream}
		}
		maskBlocks(streams, values)
	}, "values"},
	"gaps": {func(t *testing.T, m *Masks, measurement string, values []uint64) {
		streams := streamsOf(t, m, measurement)
		last := len(streams) - 1
		streams[last].keystream = gaps{streams[last].keystream}
		maskBlocks(streams, values)
	}, "sum of all but one"},
}

// alarms masks the same values twice, for two rolls, and two measurements with the same values. It returns the least
// probability of each check's statistics.
func alarms(t *testing.T, mask masker) map[string]float64 {
	t.Helper()
	keys, roll := holders(t, shared, "plan")
	other := rollOf(t, keys, "another plan")
	least := map[string]float64{}
	check := func(name string, words []uint64) {
		for at := range 8 {
			var counts [256]float64
			for _, w := range words {
				counts[byte(w>>(8*at))]++
			}
			x, expected := 0.0, float64(len(words))/256
			for _, n := range counts {
				x += (n - expected) * (n - expected) / expected
			}
			p := distuv.ChiSquared{K: 255}.Survival(x)
			if before, ok := least[name]; !ok || p < before {
				least[name] = p
			}
		}
	}
	minus := func(x, y []uint64) []uint64 {
		d := slices.Clone(x)
		for i := range d {
			d[i] -= y[i]
		}
		return d
	}
	sum := make([]uint64, cells)
	for _, name := range roll.Holders[:shared-1] {
		values := slices.Repeat([]uint64{12345}, cells+blockWords)
		m := masksOf(t, roll, keys[name], name)
		first, again, second := slices.Clone(values), slices.Clone(values), slices.Clone(values)
		mask(t, m, "a", first)
		mask(t, m, "b", second)
		mask(t, masksOf(t, other, keys[name], name), "a", again)
		check("values", first[:cells])
		check("two runs", minus(first, again)[:cells])
		check("two measurements", minus(first, second)[:cells])
		check("two blocks", minus(first[blockWords:], first[:cells]))
		for i := range sum {
			sum[i] += first[i]
		}
	}
	check("sum of all but one", sum)
	return least
}

func TestSharesAreUniform(t *testing.T) {
	for name, p := range alarms(t, honest) {
		if p < alarm {
			t.Errorf("%s: a uniform draw is so uneven with probability %g", name, p)
		}
	}
}

func TestFaultsInMasksAreNoticed(t *testing.T) {
	for name, f := range faults {
		if p := alarms(t, f.mask)[f.check]; p >= alarm {
			t.Errorf("%s: the check of %s does not notice it: %g", name, f.check, p)
		}
	}
	if p := missedGaps(); p > 1e-9 {
		t.Errorf("gaps are missed with probability %g", p)
	}
}

// missedGaps bounds the probability that gaps raise no alarm: one word in 64 has a known byte, and the others are
// uniform. χ² has noncentrality λ = n Σ (p' − p)² / p then and is below d + λ − 2 √((d + 2λ) x) with probability e^−x
// at most (Birgé 2001, An alternative point of view on Lepski's method, lemma 8.1). That law of χ² is approximate.
func missedGaps() float64 {
	const d, share = 255.0, 1.0 / sparse
	lambda := cells * share * share * d
	gap := d + lambda - distuv.ChiSquared{K: d}.Quantile(1-alarm)
	return math.Exp(-gap * gap / (4 * (d + 2*lambda)))
}
