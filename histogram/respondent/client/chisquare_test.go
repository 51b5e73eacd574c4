package client_test

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// This file samples reports with the system's generator and compares them with their exact law. A χ² statistic raises
// an alarm beyond the quantile of 1 − 10^−10 of its law. There are five statistics, so that the tests fail by chance
// once in more than 10^9 runs. Planted faults must be detected with the same draws; a bound of the probability that a
// fault is missed is computed for each.

const (
	alarm   = 1e-10
	samples = 4_000_000
)

// sampler is the client, or the client with a fault. It returns a report of category v, which is valid until the next.
type sampler func(q *client.Question, v int64, random *client.Bytes) []byte

func honest() sampler {
	var report []byte
	return func(q *client.Question, v int64, random *client.Bytes) []byte {
		report, _ = q.Randomise(report[:0], v, random)
		return report
	}
}

// chiSquare returns χ² of draws against a law of cells.
func chiSquare(cells []float64, draw func() int) float64 {
	counts := make([]float64, len(cells))
	for range samples {
		counts[draw()]++
	}
	x := 0.0
	for i, p := range cells {
		expected := p * samples
		x += (counts[i] - expected) * (counts[i] - expected) / expected
	}
	return x
}

// isAlarm reports whether χ² is beyond the quantile for so many degrees of freedom.
func isAlarm(x float64, freedom int) bool {
	return distuv.ChiSquared{K: float64(freedom)}.Survival(x) < alarm
}

// missed bounds the probability that draws of another law raise no alarm. χ² has noncentrality λ = n Σ (p' − p)² / p
// then and is below d + λ − 2 √((d + 2λ) x) with probability e^−x at most (Birgé 2001, An alternative point of view on
// Lepski's method, lemma 8.1).
func missed(cells, faulty []float64) float64 {
	lambda, d := 0.0, float64(len(cells)-1)
	for i, p := range cells {
		lambda += samples * (faulty[i] - p) * (faulty[i] - p) / p
	}
	low, high := d, 1e6
	for range 100 { // the quantile
		if middle := (low + high) / 2; isAlarm(middle, len(cells)-1) {
			high = middle
		} else {
			low = middle
		}
	}
	gap := max(0, d+lambda-high)
	return math.Exp(-gap * gap / (4 * (d + 2*lambda)))
}

// setLaw returns the law of a bitmap of two of six categories, by bitmap. Others are drawn in turn, each with its
// weight.
func setLaw(p float64, v int, weights []float64) []float64 {
	cells, rest := make([]float64, 64), 0.0
	for u, w := range weights {
		if u != v {
			rest += w
		}
	}
	for u, w := range weights {
		if u == v || w == 0 {
			continue
		}
		cells[1<<v|1<<u] += p * w / rest
		for x, other := range weights {
			if x != v && x != u && other > 0 {
				cells[1<<u|1<<x] += (1 - p) * w / rest * other / (rest - w)
			}
		}
	}
	return cells
}

// possible returns the cells of a law that have a probability, of another law of the same cells.
func possible(law, other []float64) (cells []float64) {
	for i, p := range law {
		if p > 0 {
			cells = append(cells, other[i])
		}
	}
	return cells
}

// setChiSquare samples reports of two of six categories.
func setChiSquare(q *client.Question, v int64, cells []float64, s sampler) float64 {
	random, index, n := client.NewBytes(nil), make([]int, 64), 0
	for i, p := range cells {
		if p > 0 {
			index[i] = n
			n++
		}
	}
	return chiSquare(possible(cells, cells), func() int { return index[s(q, v, random)[0]] })
}

// times returns the question with another probability that a report holds the answer.
func times(q client.Question, factor float64) *client.Question {
	q.Keep = int64(float64(q.Keep) * factor)
	return &q
}

// TestSetsHaveTheirLaw samples two of six categories. Detected is a probability that is off by the factor 1.01, and
// others that are drawn with a remainder of a byte (43, 43, 43, 43, 42 and 42 of 256) or always the first.
func TestSetsHaveTheirLaw(t *testing.T) {
	const v = 4
	q := question(t, client.Set, "1", column("c", 6))
	q.Support, q.Keep = 2, certain/100*57
	p := float64(q.Keep) / certain
	even := []float64{1, 1, 1, 1, 1, 1}
	right := setLaw(p, v, even)
	if x := setChiSquare(&q, v, right, honest()); isAlarm(x, 14) {
		t.Errorf("χ² is %.1f", x)
	}
	remainders, always := []float64{43, 43, 43, 43, 42, 42}, honest()
	for name, c := range map[string]struct {
		sampler sampler
		law     []float64
	}{
		"a probability that is 1.01 times as large": {func(q *client.Question, v int64, random *client.Bytes) []byte {
			return always(times(*q, 1.01), v, random)
		}, setLaw(p*1.01, v, even)},
		"remainders of bytes": {faultySet(q.Keep, func(b byte) byte { return b % 6 }), setLaw(p, v, remainders)},
		"the first others":    {faultySet(q.Keep, nil), setLaw(p, v, []float64{1, 1e-12, 1e-24, 1e-36, 1e-48, 1e-60})},
	} {
		miss := missed(possible(right, right), possible(right, c.law))
		if x := setChiSquare(&q, v, right, c.sampler); !isAlarm(x, 14) {
			t.Errorf("%s: not detected with χ² = %.1f", name, x)
		}
		if t.Logf("%s: missed with probability %.1g at most", name, miss); miss > 1e-9 {
			t.Errorf("%s: may be missed with probability %g", name, miss)
		}
	}
}

// faultySet draws two of six categories as a client does whose uniform numbers are what a byte becomes, or in order.
func faultySet(keep int64, become func(byte) byte) sampler {
	source := bufio.NewReaderSize(rand.Reader, 4096)
	next := func() byte {
		b, _ := source.ReadByte() // which the system's generator always has
		return b
	}
	report := []byte{0}
	return func(_ *client.Question, v int64, _ *client.Bytes) []byte {
		var x int64
		for range 6 {
			x = x<<8 | int64(next())
		}
		left := 2
		if report[0] = 0; x < keep {
			report[0], left = 1<<v, 1
		}
		for u := byte(0); left > 0; u++ {
			of := u
			if become != nil {
				of = become(next())
			}
			if int64(of) != v && report[0]>>of&1 == 0 {
				report[0] |= 1 << of
				left--
			}
		}
		return report
	}
}

// TestOthersOfLargeSetsAreUniform samples 27 of 100 categories: whether the answer is held, and, where it is and where
// it is not, how often each other one is. The counts of the others, of which each report holds as many, have χ² with 98
// degrees of freedom when divided by their covariance.
func TestOthersOfLargeSetsAreUniform(t *testing.T) {
	const v, n = 42, 1_000_000
	q := question(t, client.Set, "1", column("c", 100))
	if q.Support != 27 {
		t.Fatalf("%d categories in a report, want 27", q.Support)
	}
	random, draw := client.NewBytes(nil), honest()
	var counts [2][100]float64
	var held [2]float64
	for range n {
		report, part := draw(&q, v, random), 0
		if histogramtest.Holds(&q, report, v) {
			part = 1
		}
		held[part]++
		for u := range int64(100) {
			counts[part][u] += float64(report[u/8] >> (u % 8) & 1)
		}
	}
	p := float64(q.Keep) / certain
	if z := (held[1] - n*p) / math.Sqrt(n*p*(1-p)); isAlarm(z*z, 1) {
		t.Errorf("%.0f of %d reports hold the answer, which is %.1f deviations off", held[1], n, z)
	}
	for part, others := range []float64{27, 26} {
		share, x := others/99, 0.0
		for u, count := range counts[part] {
			if u != v {
				x += (count - held[part]*share) * (count - held[part]*share)
			}
		}
		if x /= held[part] * share * (1 - share) * 99 / 98; isAlarm(x, 98) {
			t.Errorf("of reports with %.0f others: χ² is %.1f", others, x)
		}
	}
}

// permutedLaw returns the law of a and b of a report of category v of 13, of which w are held: cell 13 (a−1) + b. The
// values of a that are drawn are as, and those of t if the report does not hold the answer are ts.
func permutedLaw(p float64, v, w int, as, ts []int) []float64 {
	cells := make([]float64, 12*13)
	for _, a := range as {
		for t := range w {
			cells[13*(a-1)+(t+13*a-a*v%13)%13] += p / float64(w*len(as))
		}
		for _, t := range ts {
			cells[13*(a-1)+(t+13*a-a*v%13)%13] += (1 - p) / float64(len(ts)*len(as))
		}
	}
	return cells
}

func span(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// TestPermutedReportsHaveTheirLaw samples reports of 13 categories. Detected is a probability that is off by the factor
// 1.01, an a that is always 1, and a report that holds the answer at times when it should not.
func TestPermutedReportsHaveTheirLaw(t *testing.T) {
	const v = 11
	q := question(t, client.Permuted, "2", column("c", 12))
	q.Support, q.Keep = 4, certain/100*70
	p, w := float64(q.Keep)/certain, int(q.Support)
	right := permutedLaw(p, v, w, span(1, 13), span(w, 13))
	sampled := func(s sampler) float64 {
		random := client.NewBytes(nil)
		return chiSquare(right, func() int {
			report := s(&q, v, random)
			return int(13*(binary.BigEndian.Uint32(report)-1) + binary.BigEndian.Uint32(report[4:]))
		})
	}
	if x := sampled(honest()); isAlarm(x, len(right)-1) {
		t.Errorf("χ² is %.1f", x)
	}
	always := honest()
	for name, c := range map[string]struct {
		sampler sampler
		law     []float64
	}{
		"a probability that is 1.01 times as large": {func(q *client.Question, v int64, random *client.Bytes) []byte {
			return always(times(*q, 1.01), v, random)
		}, permutedLaw(p*1.01, v, w, span(1, 13), span(w, 13))},
		"an a that is always 1": {func(q *client.Question, v int64, random *client.Bytes) []byte {
			report := always(q, v, random)
			a, b := binary.BigEndian.Uint32(report), binary.BigEndian.Uint32(report[4:])
			binary.BigEndian.PutUint32(report, 1)
			binary.BigEndian.PutUint32(report[4:], ((a*uint32(v)+b)%13+13-uint32(v))%13)
			return report
		}, permutedLaw(p, v, w, []int{1}, span(w, 13))},
		"any t if the answer is not kept": {func(q *client.Question, v int64, random *client.Bytes) []byte {
			factor := 1 + (1-p)/p*float64(w)/13 // so often does any t hold the answer
			return always(times(*q, factor), v, random)
		}, permutedLaw(p, v, w, span(1, 13), span(0, 13))},
	} {
		miss := missed(right, c.law)
		if x := sampled(c.sampler); !isAlarm(x, len(right)-1) {
			t.Errorf("%s: not detected with χ² = %.1f", name, x)
		}
		if t.Logf("%s: missed with probability %.1g at most", name, miss); miss > 1e-9 {
			t.Errorf("%s: may be missed with probability %g", name, miss)
		}
	}
}
