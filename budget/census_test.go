package budget

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// The certificate of the 2020 Census redistricting data: its budget as published in exact fractions, its noise and its
// reported figures. Neighbours differ in one person's record within a state, so every query changes by 1 in two cells:
// L2² = 2, and a query of budget ρ has σ² = 1/ρ.

// censusRho is the budget of the persons, censusUnitsRho that of the housing units.
func censusRho() *big.Rat      { return squared(542, 339) }
func censusUnitsRho() *big.Rat { return squared(3379, 12343) }

func squared(a, b int64) *big.Rat {
	r := big.NewRat(a, b)
	return r.Mul(r, r)
}

const censusDelta = 1e-10

// censusQueries names the queries by the attributes they contain: cenrace,
// hispanic, votingage, hhinstlevels (a coarsening of hhgq), hhgq.
var censusQueries = []string{"", "c", "h", "v", "i", "g", "vh", "hc", "vc", "vhc", "gvhc"}

// censusLevel is a geographic level: its share of the whole in 4099ths and those of
// its queries, in the order of censusQueries, with what the certificate prints of
// each: percent of the whole / σ.
type censusLevel struct {
	name        string
	share       int64
	denominator int64
	shares      []int64
	printed     string
}

// censusLevels goes from the smallest areas to the largest.
var censusLevels = []censusLevel{
	{"block", 165, 4097, []int64{5, 9, 5, 5, 5, 5, 5, 21, 21, 71, 3945},
		".005/89.2 .009/66.5 .005/89.2 .005/89.2 .005/89.2 .005/89.2 .005/89.2 .021/43.5 .021/43.5 .070/23.7 3.88/3.18"},
	{"block group", 1256, 4099, []int64{1705, 3, 3, 3, 3, 3, 3, 1055, 9, 24, 1288},
		"12.75/1.75 .022/41.8 .022/41.8 .022/41.8 .022/41.8 .022/41.8 .022/41.8 7.89/2.23 .067/24.1 .179/14.8 9.63/2.02"},
	{"tract", 687, 4102, []int64{1567, 8, 5, 5, 5, 5, 5, 1933, 20, 67, 482},
		"6.40/2.47 .033/34.6 .020/43.8 .020/43.8 .020/43.8 .020/43.8 .020/43.8 7.90/2.23 .082/21.9 .274/12.0 1.97/4.46"},
	{"county", 447, 4097, []int64{3126, 10, 10, 10, 10, 10, 10, 28, 28, 101, 754},
		"8.32/2.17 .027/38.3 .027/38.3 .027/38.3 .027/38.3 .027/38.3 .027/38.3 .075/22.9 .075/22.9 .269/12.1 2.01/4.42"},
	{"state", 1440, 4097, []int64{3773, 6, 6, 6, 6, 6, 6, 12, 12, 34, 230},
		"32.35/1.10 .051/27.6 .051/27.6 .051/27.6 .051/27.6 .051/27.6 .051/27.6 .103/19.5 .103/19.5 .292/11.6 1.97/4.45"},
	{"US", 104, 4097, []int64{0, 52, 26, 26, 26, 26, 26, 130, 130, 442, 3213},
		"- .032/34.9 .016/49.3 .016/49.3 .016/49.3 .016/49.3 .016/49.3 .081/22.0 .081/22.0 .274/12.0 1.99/4.43"},
}

// rho returns the budget of one query, nil if it was not asked.
func (l censusLevel) rho(query int) *big.Rat {
	if l.shares[query] == 0 {
		return nil
	}
	rho := new(big.Rat).Mul(censusRho(), big.NewRat(l.share, 4099))
	return rho.Mul(rho, big.NewRat(l.shares[query], l.denominator))
}

// mechanisms returns the mechanisms of the queries that contains selects.
func (l censusLevel) mechanisms(contains func(query string) bool) []Mechanism {
	var all []Mechanism
	for i, query := range censusQueries {
		if rho := l.rho(i); rho != nil && contains(query) {
			all = append(all, Mechanism{Kind: DiscreteGaussian, Parameter: rho.Inv(rho), L1: big.NewInt(2),
				L2Squared: big.NewInt(2)})
		}
	}
	return all
}

func everyQuery(string) bool { return true }

func TestCensusSharesAreTheWhole(t *testing.T) {
	var levels int64
	for _, l := range censusLevels {
		levels += l.share
		var shares int64
		for _, share := range l.shares {
			shares += share
		}
		if shares != l.denominator {
			t.Errorf("%s: query shares are %d of %d", l.name, shares, l.denominator)
		}
	}
	if levels != 4099 {
		t.Errorf("level shares are %d of 4099", levels)
	}
}

func TestCensusNoiseIsAsPrinted(t *testing.T) {
	for _, l := range censusLevels {
		for i, printed := range strings.Fields(l.printed) {
			rho := l.rho(i)
			if printed == "-" {
				if rho != nil {
					t.Errorf("%s: %q is not asked", l.name, censusQueries[i])
				}
				continue
			}
			percent, sigma, _ := strings.Cut(printed, "/")
			assertPrints(t, l.name+" percent "+censusQueries[i], nearest(new(big.Rat).Quo(rho, censusRho()))*100,
				percent)
			assertPrints(t, l.name+" sigma "+censusQueries[i], 1/math.Sqrt(nearest(rho)), sigma)
		}
	}
	detailed := censusLevels[0].rho(len(censusQueries) - 1)
	if got := FormatRat(detailed.Inv(detailed)); got != "214437516707/21246481300" {
		t.Errorf("σ² of the detailed block query is %s", got)
	}
}

// assertPrints checks a figure to the digits that are printed.
func assertPrints(t *testing.T, what string, got float64, printed string) {
	t.Helper()
	_, decimals, _ := strings.Cut(printed, ".")
	if text := strconv.FormatFloat(got, 'f', len(decimals), 64); strings.TrimLeft(text, "0") != printed {
		t.Errorf("%s = %s, the certificate prints %s", what, text, printed)
	}
}

func censusEpsilon(t *testing.T, steps []Mechanism) float64 {
	t.Helper()
	return ZCDPEpsilon(roundUp(mustCompose(t, steps...).Rho()), censusDelta)
}

func TestCensusBudgetIsTheCompositionOfItsQueries(t *testing.T) {
	var all []Mechanism
	for _, l := range censusLevels {
		all = append(all, l.mechanisms(everyQuery)...)
	}
	if len(all) != 65 {
		t.Errorf("%d queries", len(all))
	}
	if got := mustCompose(t, all...).Rho(); got.Cmp(censusRho()) != 0 {
		t.Errorf("ρ = %s", got)
	}
	assertPrints(t, "ε of the persons", censusEpsilon(t, all), "17.14")
	units := ZCDPEpsilon(roundUp(censusUnitsRho()), censusDelta)
	assertPrints(t, "ε of the housing units", units, "2.47")
	assertPrints(t, "ε of both added", censusEpsilon(t, all)+units, "19.62")
	both := censusRho()
	assertPrints(t, "ε of both composed", ZCDPEpsilon(roundUp(both.Add(both, censusUnitsRho())), censusDelta), "17.44")
}

// TestCensusAttributes bounds what is learnt about one attribute of a person whose other attributes and place stay the
// same: only the queries that contain the attribute change.
func TestCensusAttributes(t *testing.T) {
	for _, c := range []struct{ name, letters, epsilon string }{
		{"hhgq", "ig", "7.24"}, {"votingage", "v", "7.57"}, {"hispanic", "h", "10.04"}, {"cenrace", "c", "10.08"},
	} {
		var moved []Mechanism
		for _, l := range censusLevels {
			moved = append(moved, l.mechanisms(func(query string) bool {
				return strings.ContainsAny(query,
					c.letters)
			})...)
		}
		assertPrints(t, "ε of "+c.name, censusEpsilon(t, moved), c.epsilon)
	}
}

// TestCensusPlaces bounds what is learnt about the block of a person of whom everything else is known, including the
// area of the block: only the levels below that area change.
func TestCensusPlaces(t *testing.T) {
	var moved []Mechanism
	for i, epsilon := range []string{"2.93", "9.38", "11.70", "13.05", "16.89"} {
		moved = append(moved, censusLevels[i].mechanisms(everyQuery)...)
		assertPrints(t, "ε of the block within its "+censusLevels[i+1].name, censusEpsilon(t, moved), epsilon)
	}
}
