package synth

import (
	"math/big"
	"os"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
)

// taxiSizes are the numbers of categories of the columns of taxi.csv.
var taxiSizes = []int{21, 101, 78, 78, 9, 11, 11, 11, 11, 11}

// TestAIM compares the rows of AIM with the truth, as TestAdult does for MST: five releases of each, at ρ of ε = 0.1, 1
// and 10 at δ = 10⁻⁹. The means were 0.2981, 0.1170, 0.0816 and 0.1446. Releases stay the same unless something changes
// that they depend on.
func TestAIM(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("set DPRELEASE_LONG to run it")
	}
	for _, c := range []struct {
		name  string
		file  string
		sizes []int
		rho   string
		most  float64
	}{
		{"adult, ε=0.1", "adult15.csv", adultSizes, "0.000177138", 0.32},
		{"adult, ε=1", "adult15.csv", adultSizes, "0.0149731", 0.125},
		{"adult, ε=10", "adult15.csv", adultSizes, "1.0907857", 0.085},
		{"taxi, ε=1", "taxi.csv", taxiSizes, "0.0149731", 0.15},
	} {
		t.Run(c.name, func(t *testing.T) {
			codes := readCodes(t, c.file, c.sizes)
			rho, _ := new(big.Rat).SetString(c.rho)
			s := halfForMicrodata(t, c.sizes, rho, plan.AIM)
			mean := 0.0
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
				l1 := threeWay(c.sizes, codes, m.Codes)
				t.Logf("L1/N of all 3-ways %.4f; %d rounds with choices and noise %v, model again and rows %v", l1,
					m.Rounds,
					adapting, drawing)
				mean += l1 / float64(runs)
			}
			t.Logf("mean %.4f", mean)
			if mean > c.most {
				t.Errorf("the mean L1/N of all 3-ways is %.4f, more than %.3f", mean, c.most)
			}
		})
	}
}

// TestAIMOfManyColumns makes microdata of 35 columns, each of which follows the one before in two rows of three.
func TestAIMOfManyColumns(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("set DPRELEASE_LONG to run it")
	}
	r := seededStream([32]byte{60})
	sizes, codes := make([]int, 35), make([][]uint32, 35)
	for i := range sizes {
		sizes[i] = 2 + i%5
		for row := range 20_000 {
			code := uint32(r.below(uint64(sizes[i])))
			if i > 0 && r.below(3) > 0 {
				code = codes[i-1][row] % uint32(sizes[i])
			}
			codes[i] = append(codes[i], code)
		}
	}
	s := halfForMicrodata(t, sizes, big.NewRat(149731, 10_000_000), plan.AIM)
	out, adapting := s.sealRelease(t, codes, noise.Key{1})
	start := time.Now()
	m, err := Draw(t.Context(), out, 0)
	if err != nil {
		t.Fatal(err)
	}
	checkMicrodata(t, s, m)
	t.Logf("L1/N of all 3-ways %.4f; %d rounds with choices and noise %v, model again and rows %v",
		threeWay(sizes, codes, m.Codes), m.Rounds, adapting, time.Since(start))
}
