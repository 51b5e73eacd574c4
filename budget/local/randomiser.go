package local

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the randomiser: subset selection, of which randomised response is the case of one category.

// ChanceBits is the number of bits of a probability: a device compares a whole number of so many random bits with
// [Randomiser.Keep]. All fit into the numbers of every language.
const ChanceBits = 48

// chances is the denominator of the probabilities.
const chances = 1 << ChanceBits

// The limits of a randomiser.
const (
	// MaxCategories bounds the categories of a question.
	MaxCategories = 1 << 20
	// TextCategories is how many categories texts that nobody lists are hashed to, a prime: so many that hardly two of
	// those that are tried have the same.
	TextCategories = 1<<31 - 1
	// MaxEpsilon bounds the ε of a question: beyond it, more than 999 of 1000 reports of two categories are true.
	MaxEpsilon = 10
)

// Randomiser is subset selection: a report is a set of Support of the Categories. It holds the respondent's category
// with probability p = Keep / 2^48; the others in it are drawn uniformly. Source: Ye & Barg 2018, Optimal schemes for
// discrete distribution estimation under locally differential privacy, section III; with Support 1 it is randomised
// response (Warner 1965).
//
// Guarantee: the report is ε-locally differentially private for ε = ln(p (k−w) / ((1−p) w)), with k categories of which
// w are reported, whatever the respondents' other reports are. Neighbours: any two answers of one respondent. Theorem:
// docs/proofs/local.md.
type Randomiser struct {
	Categories int64 // k
	Support    int64 // w
	Keep       int64 // p · 2^48
}

// New returns the randomiser of ε with the least variance for a category that nobody has, among all supports. It
// returns an error unless 0 < ε ≤ [MaxEpsilon] and 2 ≤ categories ≤ [MaxCategories], or they are [TextCategories], and
// if ε is so small that 2^48 steps of probability do not show it.
//
// Guarantee: the randomiser's ε is at most the one asked for: p is rounded down.
func New(epsilon *big.Rat, categories int64) (Randomiser, error) {
	if epsilon.Sign() <= 0 || epsilon.Cmp(big.NewRat(MaxEpsilon, 1)) > 0 {
		return Randomiser{}, fmt.Errorf("ε is %s, expected a number above 0 and at most %d", epsilon.RatString(),
			MaxEpsilon)
	}
	if err := checkCategories(categories); err != nil {
		return Randomiser{}, err
	}
	e := expDown(epsilon)
	near, _ := e.Float64()
	var best Randomiser
	least := math.Inf(1)
	middle := int64(float64(categories) / (near + 1))
	for w := max(1, middle-1); w <= max(1, middle+2) && w < categories; w++ {
		r := Randomiser{Categories: categories, Support: w, Keep: keepFor(e, categories, w)}
		if r.check() != nil {
			continue
		}
		if v := r.EmptyVariance(); v < least {
			best, least = r, v
		}
	}
	if best.Support == 0 {
		return Randomiser{}, errors.New("ε is too small to be told from 0 by probabilities of 48 bits")
	}
	return best, nil
}

// keepFor returns p · 2^48 for p = w e / (w e + k − w), rounded down.
func keepFor(e *big.Rat, k, w int64) int64 {
	up := new(big.Rat).Mul(big.NewRat(w, 1), e)
	p := new(big.Rat).Quo(up, new(big.Rat).Add(up, big.NewRat(k-w, 1)))
	p.Mul(p, big.NewRat(chances, 1))
	return new(big.Int).Quo(p.Num(), p.Denom()).Int64()
}

// expTerms is how many terms of the series of e^x, for x below 1/2, are summed: the rest is below 2^−100.
const expTerms = 24

// expDown returns a fraction that is at most e^x and above e^x (1 − 2^−90), for 0 < x ≤ [MaxEpsilon].
//
// Contract: it is a partial sum of the positive series of e^(x/32), raised to the power of 32; nothing is rounded but
// downwards.
func expDown(x *big.Rat) *big.Rat {
	y := new(big.Rat).Quo(x, big.NewRat(32, 1))
	sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
	for i := int64(1); i <= expTerms; i++ {
		term = floorTo(new(big.Rat).Quo(new(big.Rat).Mul(term, y), big.NewRat(i, 1)))
		sum.Add(sum, term)
	}
	for range 5 {
		sum = floorTo(new(big.Rat).Mul(sum, sum))
	}
	return sum
}

// floorTo rounds a positive fraction down to a multiple of 2^−128.
func floorTo(x *big.Rat) *big.Rat {
	n := new(big.Int).Lsh(x.Num(), 128)
	n.Quo(n, x.Denom())
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), 128))
}

// check returns an error unless a report is more likely to hold the true category than any other.
func (r Randomiser) check() error {
	if err := checkCategories(r.Categories); err != nil {
		return err
	}
	switch {
	case r.Support < 1 || r.Support >= r.Categories:
		return fmt.Errorf("reports of %d of %d categories", r.Support, r.Categories)
	case r.Keep <= 0 || r.Keep >= chances:
		return errors.New("a report that never, or always, holds the answer")
	}
	if p, q := r.Chances(); p.Cmp(q) <= 0 {
		return errors.New("a report that says nothing of the answer")
	}
	return nil
}

// checkCategories returns an error unless a question may have so many categories.
func checkCategories(n int64) error {
	if (n < 2 || n > MaxCategories) && n != TextCategories {
		return fmt.Errorf("a question of %d categories, expected 2 to %d", n, MaxCategories)
	}
	return nil
}

// Check returns an error unless the randomiser is one of ε at most. It is for numbers that somebody else wrote.
func (r Randomiser) Check(epsilon *big.Rat) error {
	if err := r.check(); err != nil {
		return err
	}
	if r.Ratio().Cmp(expDown(epsilon)) > 0 {
		return fmt.Errorf("reports that cost more than ε = %s", budget.FormatRat(epsilon))
	}
	return nil
}

// expUp returns a fraction that is at least e^x, and below e^x (1 + 2^−80).
func expUp(x *big.Rat) *big.Rat {
	e := expDown(x)
	return e.Mul(e, new(big.Rat).SetFrac(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 85), big.NewInt(1)),
		new(big.Int).Lsh(big.NewInt(1), 85)))
}

// Ratio returns e^ε, exactly: the largest ratio of the probabilities of a report under two answers.
func (r Randomiser) Ratio() *big.Rat {
	up := new(big.Rat).Mul(big.NewRat(r.Keep, 1), big.NewRat(r.Categories-r.Support, 1))
	return up.Quo(up, new(big.Rat).Mul(big.NewRat(chances-r.Keep, 1), big.NewRat(r.Support, 1)))
}

// Chances returns, exactly, the probability p that a report holds the respondent's category, and q that it holds
// another given one: (p (w−1) + (1−p) w) / (k−1).
func (r Randomiser) Chances() (p, q *big.Rat) {
	p = big.NewRat(r.Keep, chances)
	q = new(big.Rat).Sub(big.NewRat(r.Support, 1), p)
	return p, q.Quo(q, big.NewRat(r.Categories-1, 1))
}

// floats returns the probabilities as the nearest numbers.
func (r Randomiser) floats() (p, q float64) {
	if r.Support < 1<<53/chances { // no integer below has more bits than a float64 has, so q is rounded once
		return float64(r.Keep) / chances, float64(r.Support*chances-r.Keep) / float64(r.Categories-1) / chances
	}
	exactP, exactQ := r.Chances()
	p, _ = exactP.Float64()
	q, _ = exactQ.Float64()
	return p, q
}

// EmptyVariance returns the variance of the estimated count of a category that nobody has, per report: q(1−q)/(p−q)².
// Source: Wang, Blocki, Li & Jha 2017, Locally differentially private protocols for frequency estimation, equation 5.
func (r Randomiser) EmptyVariance() float64 {
	p, q := r.floats()
	return float64(q*(1-q)) / float64((p-q)*(p-q))
}

// Variance returns the variance of the estimated count of a category that the share f of all have, per report, all of
// them answering: (f p(1−p) + (1−f) q(1−q)) / (p−q)².
func (r Randomiser) Variance(f float64) float64 {
	p, q := r.floats()
	return (float64(float64(f*p)*(1-p)) + float64(float64((1-f)*q)*(1-q))) / float64((p-q)*(p-q))
}
