package noise

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/internal/testdata"
	"gonum.org/v1/gonum/stat/distuv"
)

// The tests of this file draw under a fresh key and compare with the exact law.
//
// False alarms: every check rejects an exact sampler with probability at most
// falseAlarm. There are 4 checks for each of 10 laws and 2 on all laws together,
// 42 in all, and the mutants below assert rejections, which never raise an
// alarm on an exact sampler; so a run fails wrongly with probability below 1e-9.
//
// Misses: a scale 1 % off moves the variance by more than 20 standard errors of
// its estimate, a doubled zero moves the zero mass by more than 100, 0.2 % of
// signs flipped move the balance by more than 10 against a threshold of 7.2, and
// tails cut at 4.5σ (Gaussian) or 12t (Laplace) leave 0 draws where more than
// 150 are expected. Every mutant is missed with probability below 1e-3.
const (
	falseAlarm  = 2e-11
	zThreshold  = 6.8 // two-sided normal tail 1.05e-11, with room for its being approximate
	drawsPerLaw = 4_000_000
)

// law is one exact law and what its tables say.
type law struct {
	name      string
	add       func(*Bits, *big.Rat, []int64) error
	parameter *big.Rat
	pmf       []float64 // P(|X| = m), m = 0, 1, …, down to 1e-20
	variance  float64
	tailFrom  int64 // first |x| beyond 4.5σ or 12t
}

// laws are those that draws are held against.
func laws() []law {
	var all []law
	for _, sigma := range []float64{0.5, 1, 2, 10, 100} {
		all = append(all, gaussianLaw(sigma))
	}
	for _, scale := range []float64{0.5, 1, 2, 10, 100} {
		all = append(all, laplaceLaw(scale))
	}
	return all
}

// TestLawsMatchTheExactTables holds the laws that draws are held against to the
// tables calculated apart from this program.
func TestLawsMatchTheExactTables(t *testing.T) {
	data, err := os.ReadFile(testdata.Shared(t, "vectors/noise_tables.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tables []struct {
			Law          string
			Sigma, Scale float64
			Variance     string
			Folded       map[string]string `json:"folded_cdf_floor_2p64_hex"`
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, table := range file.Tables {
		l := laplaceLaw(table.Scale)
		if table.Law == "discrete_gaussian" {
			l = gaussianLaw(table.Sigma)
		}
		seen[l.name] = true
		variance, _ := strconv.ParseFloat(table.Variance, 64)
		if math.Abs(l.variance/variance-1) > 1e-12 {
			t.Errorf("%s: variance %v, table %v", l.name, l.variance, variance)
		}
		for key, hex := range table.Folded {
			m, _ := strconv.Atoi(key)
			cdf, _ := strconv.ParseUint(hex, 16, 64)
			sum := 0.0
			for _, p := range l.pmf[:min(m+1, len(l.pmf))] {
				sum += p
			}
			if math.Abs(sum-float64(cdf)/0x1p64) > 1e-12 {
				t.Errorf("%s: P(|X| ≤ %d) = %v, table %v", l.name, m, sum, float64(cdf)/0x1p64)
			}
		}
	}
	for _, l := range laws() {
		if !seen[l.name] {
			t.Errorf("no table has the law %s", l.name)
		}
	}
}

func gaussianLaw(sigma float64) law {
	s := new(big.Rat).SetFloat64(sigma)
	l := law{name: "Gaussian σ=" + strconv.FormatFloat(sigma, 'g', -1, 64), add: AddDiscreteGaussian, parameter: s.Mul(s, s), tailFrom: int64(4.5*sigma) + 1}
	l.fill(func(m float64) float64 { return math.Exp(-m * m / (2 * sigma * sigma)) })
	return l
}

func laplaceLaw(scale float64) law {
	l := law{name: "Laplace t=" + strconv.FormatFloat(scale, 'g', -1, 64), add: AddDiscreteLaplace, parameter: new(big.Rat).SetFloat64(scale), tailFrom: int64(12*scale) + 1}
	l.fill(func(m float64) float64 { return math.Exp(-m / scale) })
	return l
}

func (l *law) fill(weight func(m float64) float64) {
	total := 0.0
	for m := 0.0; m == 0 || weight(m) > 1e-20; m++ {
		w := 2 * weight(m)
		if m == 0 {
			w = 1
		}
		l.pmf = append(l.pmf, w)
		total += w
	}
	for m := range l.pmf {
		l.pmf[m] /= total
		l.variance += float64(m*m) * l.pmf[m]
	}
}

func (l law) scaled(percent int64) law {
	factor := big.NewRat(100+percent, 100)
	l.parameter = new(big.Rat).Mul(l.parameter, factor)
	if l.name[0] == 'G' {
		l.parameter.Mul(l.parameter, factor)
	}
	return l
}

// histogram counts draws by value.
type histogram map[int64]int

func draw(t *testing.T, l law, streams *Streams) histogram {
	t.Helper()
	h := histogram{}
	counts := make([]int64, BlockCells)
	for block := 0; block*BlockCells < drawsPerLaw; block++ {
		clear(counts)
		if err := l.add(streams.Noise([]byte(l.name), nil, block), l.parameter, counts); err != nil {
			t.Fatal(err)
		}
		for _, x := range counts {
			h[x]++
		}
	}
	return h
}

func (h histogram) total() (n int) {
	for _, count := range h {
		n += count
	}
	return n
}

// rejections names the checks on one law that a histogram fails.
func (l law) rejections(h histogram) (failed []string) {
	n := float64(h.total())
	var sum, squares float64
	for x, count := range h {
		sum += float64(x) * float64(count)
		squares += float64(x) * float64(x) * float64(count)
	}
	var fourth float64
	for m, p := range l.pmf {
		fourth += math.Pow(float64(m), 4) * p
	}
	if z := sum / math.Sqrt(n*l.variance); math.Abs(z) > zThreshold {
		failed = append(failed, "mean")
	}
	if z := (squares/n - l.variance) / math.Sqrt((fourth-l.variance*l.variance)/n); math.Abs(z) > zThreshold {
		failed = append(failed, "variance")
	}
	if binomialBound(h[0], int(n), l.pmf[0]) < falseAlarm {
		failed = append(failed, "zero mass")
	}
	if l.chiSquareTail(h) < falseAlarm {
		failed = append(failed, "chi-square")
	}
	return failed
}

// chiSquareTail compares with the law on up to 64 bins of about equal mass, cut
// from −∞ to ∞; every bin holds at least n/128 draws on average.
func (l law) chiSquareTail(h histogram) float64 {
	n := float64(h.total())
	last := int64(len(l.pmf) - 1)
	var statistic, mass, count, massBefore float64
	seen, bins := 0.0, 0
	for x := -last; x <= last; x++ {
		p := l.pmf[max(x, -x)]
		if x != 0 {
			p /= 2
		}
		mass += p
		count += float64(h[x])
		if mass >= 1./64 && 1-massBefore-mass >= 1./128 {
			statistic += (count - n*mass) * (count - n*mass) / (n * mass)
			massBefore += mass
			seen += count
			mass, count = 0, 0
			bins++
		}
	}
	rest, restMass := n-seen, 1-massBefore
	statistic += (rest - n*restMass) * (rest - n*restMass) / (n * restMass)
	return distuv.ChiSquared{K: float64(bins)}.Survival(statistic)
}

// binomialBound returns Chernoff's bound on the two-sided tail of k successes in
// n independent trials with mean success probability p; it is no approximation.
func binomialBound(k, n int, p float64) float64 {
	q := float64(k) / float64(n)
	divergence := 0.0
	if q > 0 {
		divergence += q * math.Log(q/p)
	}
	if q < 1 {
		divergence += (1 - q) * math.Log((1-q)/(1-p))
	}
	return 2 * math.Exp(-float64(n)*divergence)
}

// pooled adds up what is the same for all laws: signs, and draws in the tail.
type pooled struct {
	positive, nonzero int
	tail, draws       int
	tailMean          float64
}

func (p *pooled) include(l law, h histogram) {
	for x, count := range h {
		if x != 0 {
			p.nonzero += count
		}
		if x > 0 {
			p.positive += count
		}
		if x >= l.tailFrom || x <= -l.tailFrom {
			p.tail += count
		}
		p.draws += count
	}
	for m := int(l.tailFrom); m < len(l.pmf); m++ {
		p.tailMean += l.pmf[m] * float64(h.total())
	}
}

func (p pooled) rejections() (failed []string) {
	if binomialBound(p.positive, p.nonzero, 0.5) < falseAlarm {
		failed = append(failed, "sign balance")
	}
	if binomialBound(p.tail, p.draws, p.tailMean/float64(p.draws)) < falseAlarm {
		failed = append(failed, "tail")
	}
	return failed
}

func TestDrawsHaveTheExactLaw(t *testing.T) {
	streams := NewStreams(freshKey(t), "law")
	var honest, biased, clipped pooled
	random := rand.New(rand.NewPCG(3, 4))
	for _, l := range laws() {
		h := draw(t, l, streams)
		for _, check := range l.rejections(h) {
			t.Errorf("%s: %s is not the law's", l.name, check)
		}
		honest.include(l, h)
		biased.include(l, h.withFlippedSigns(random, 0.002))
		clipped.include(l, h.clipped(l.tailFrom-1))
		if len(l.rejections(h.withDoubledZero())) == 0 {
			t.Errorf("%s: the mutant with a doubled zero is not noticed", l.name)
		}
	}
	for _, check := range honest.rejections() {
		t.Errorf("all laws: %s is not as expected", check)
	}
	if len(biased.rejections()) == 0 {
		t.Error("the mutant with 0.2 % of negative signs flipped is not noticed")
	}
	if len(clipped.rejections()) == 0 {
		t.Error("the mutant with clipped tails is not noticed")
	}
	t.Logf("%d draws, %d not zero, %d of %.1f expected in the tails", honest.draws, honest.nonzero, honest.tail, honest.tailMean)
}

func TestScaleMutantsAreNoticed(t *testing.T) {
	streams := NewStreams(freshKey(t), "mutants")
	for _, l := range []law{gaussianLaw(10), laplaceLaw(10)} {
		for _, percent := range []int64{-1, 1} {
			failed := l.rejections(draw(t, l.scaled(percent), streams))
			if len(failed) < 2 {
				t.Errorf("%s with its scale %+d %%: noticed only by %v", l.name, percent, failed)
			}
		}
	}
}

func (h histogram) withFlippedSigns(random *rand.Rand, share float64) histogram {
	mutant := histogram{}
	for x, count := range h {
		mutant[x] += count
		for range count {
			if x < 0 && random.Float64() < share {
				mutant[x]--
				mutant[-x]++
			}
		}
	}
	return mutant
}

func (h histogram) withDoubledZero() histogram {
	mutant := histogram{}
	for x, count := range h {
		mutant[x] = count
	}
	mutant[0] *= 2
	return mutant
}

func (h histogram) clipped(end int64) histogram {
	mutant := histogram{}
	for x, count := range h {
		mutant[max(-end, min(end, x))] += count
	}
	return mutant
}
