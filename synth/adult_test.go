package synth

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// adultSizes are the numbers of categories of the columns of adult15.csv, whose codes are 0, 1, 2 …
var adultSizes = []int{32, 9, 32, 16, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2}

// adultCodes returns the codes of adult15.csv, by column.
func adultCodes(t testing.TB) [][]uint32 { return readCodes(t, "adult15.csv", adultSizes) }

// readCodes returns the codes of a file, by column.
func readCodes(t testing.TB, file string, sizes []int) [][]uint32 {
	t.Helper()
	f, err := os.Open(testkit.Data(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	codes := make([][]uint32, len(sizes))
	for i := range codes {
		codes[i] = make([]uint32, len(lines)-1)
		for row, line := range lines[1:] {
			code, err := strconv.ParseUint(line[i], 10, 32)
			if err != nil || int(code) >= sizes[i] {
				t.Fatalf("row %d, column %d: %q is no code", row, i, line[i])
			}
			codes[i][row] = uint32(code)
		}
	}
	return codes
}

// halfForMicrodata returns the setting that the planner makes of a budget of twice this ρ, half of it for the
// microdata.
func halfForMicrodata(t testing.TB, sizes []int, rho *big.Rat, method string) setting {
	t.Helper()
	return planSetting(t, sizes,
		planOf(t, sizes, fmt.Sprintf("{rho: %s, split: {tables: 1/2, microdata: 1/2}}",
			new(big.Rat).Add(rho, rho).RatString()),
			"marginals: {m: {by: [c0], budget: tables}}\nsynthetic: {t: {budget: microdata, method: "+method+"}}\n"))
}

// planSetting returns the setting of a plan's first microdata.
func planSetting(t testing.TB, sizes []int, p *plan.Plan) setting {
	t.Helper()
	s := setting{plan: p, synthetic: p.Synthetic[0], sizes: sizes}
	for i := range sizes {
		m, ok := p.Measurement(s.synthetic.Column(i))
		if !ok {
			t.Fatalf("the plan does not measure %s", s.synthetic.Column(i))
		}
		s.column = append(s.column, m)
	}
	return s
}

// threeWay returns the mean over all triples of columns of Σ|share of a cell in a − share in b|.
func threeWay(sizes []int, a, b [][]uint32) float64 {
	total, triples := 0.0, 0
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			for k := j + 1; k < len(sizes); k++ {
				cells := make([]float64, sizes[i]*sizes[j]*sizes[k])
				add := func(codes [][]uint32, weight float64) {
					for row := range codes[i] {
						cells[(int(codes[i][row])*sizes[j]+int(codes[j][row]))*sizes[k]+int(codes[k][row])] += weight
					}
				}
				add(a, 1/float64(len(a[0])))
				add(b, -1/float64(len(b[0])))
				for _, c := range cells {
					total += math.Abs(c)
				}
				triples++
			}
		}
	}
	return total / float64(triples)
}

// sealRelease seals what a setting measures of rows, with its noise and choices under a key.
func (s setting) sealRelease(t testing.TB, codes [][]uint32, key noise.Key) (out *measured.Sealed,
	adapting time.Duration) {
	t.Helper()
	o := newExact(s, codes, key)
	out = &measured.Sealed{Plan: compiled.Of(s.plan), Measured: o.measureColumns(t)}
	start := time.Now()
	rounds, err := Adapt(context.Background(), s.plan, s.synthetic, out.Measured, o)
	if err != nil {
		t.Fatal(err)
	}
	out.Rounds = []measured.Rounds{rounds}
	return out, time.Since(start)
}

// TestAdult makes microdata of adult15 at ε = 1 and δ = 10⁻⁹, which is ρ = 0.0149731, and compares all 455 tables of
// three columns with the truth. The aim is a mean L1/N of 0.19, of a range of 0 to 2; the best that the method can
// reach is about 0.16, the error of a tree without noise. Over 100 keys the mean was 0.180, the standard deviation
// 0.0041 and the largest 0.187. The mean of five has a standard deviation of 0.002, so 0.20 is ten of them away: chance
// does not reach it, but losing a tenth of the quality does.
func TestAdult(t *testing.T) {
	codes := adultCodes(t)
	s := halfForMicrodata(t, adultSizes, big.NewRat(149731, 10_000_000), plan.MST)
	var mean float64
	const runs = 5
	for run := range runs {
		out, adapting := s.sealRelease(t, codes, noise.Key{byte(run + 1)})
		start := time.Now()
		m, err := Draw(t.Context(), out, 0)
		if err != nil {
			t.Fatal(err)
		}
		drawing := time.Since(start)
		checkMicrodata(t, s, m)
		l1 := threeWay(adultSizes, codes, m.Codes)
		mean += l1 / runs
		t.Logf("L1/N of all 3-ways %.4f; %d rows; rounds with choices and noise %v, model and rows %v", l1, m.Rows,
			adapting,
			drawing)
	}
	t.Logf("mean %.4f", mean)
	if mean > 0.20 {
		t.Errorf("the mean L1/N of all 3-ways is %.4f, more than 0.20", mean)
	}
}

// BenchmarkDraw draws microdata of adult15, of a hundred times its rows, and of two columns of 500 categories.
func BenchmarkDraw(b *testing.B) {
	run := func(s *measured.Sealed) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Draw(b.Context(), s, 0); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	rho := big.NewRat(149731, 10_000_000)
	wide := make([][]uint32, 2)
	r := seededStream([32]byte{30})
	for range 1_000_000 {
		first := r.below(500)
		wide[0], wide[1] = append(wide[0], uint32(first)), append(wide[1], uint32((first+r.below(20))%500))
	}
	out, _ := halfForMicrodata(b, []int{500, 500}, rho, plan.MST).sealRelease(b, wide, noise.Key{1})
	b.Run("wide", run(out))
	out, _ = halfForMicrodata(b, adultSizes, rho, plan.MST).sealRelease(b, adultCodes(b), noise.Key{1})
	b.Run("adult", run(out))
	out.Plan.Synthetic[0].Rows = 100 * 48_842
	b.Run("adult100", run(out))
}
