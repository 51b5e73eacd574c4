package budget

import (
	"errors"
	"fmt"
)

// This file holds shares of noise, which several holders of data add to the same answers.

// Shares describes how the noise of an answer is drawn by several holders of data. Each holder adds a share: an integer
// with the characteristic function φ(θ)^(1/Needed), for the φ of the mechanism's law. A share of the discrete Laplace
// law is the difference of two negative binomial draws of order 1/Needed; one of [Skellam] noise is such noise of a
// Needed-th of the variance. A share of the discrete Gaussian law is such noise with a Needed-th of σ². That law is not
// divisible; but with σ² of [LeastGaussianShare] or more in each share, the sum is within 2⁻²¹⁵ of it in total
// variation, for up to 1000 shares (docs/proofs/sampler.md, part 7).
//
// The sum of Needed shares has the mechanism's law, and protects each person as it does, whatever the other holders do.
// The sum of all Added shares has the characteristic function φ(θ)^(Added/Needed). Shares therefore leave the privacy
// loss of a mechanism as it is, and change only its error. The zero value means that one draw makes all the noise.
type Shares struct {
	Needed int `json:"needed"` // shares that add up to the mechanism's law
	Added  int `json:"added"`  // shares that are added, at least Needed
}

// maxShares bounds Added. Then noise beyond 2^62, 4096 scales, has a probability below 1e-900.
const maxShares = 1000

// validate returns an error if noise cannot be drawn in these shares, of a law that can be divided or of another one.
func (s Shares) validate(divisible bool) error {
	switch {
	case s == Shares{}:
	case !divisible:
		return errors.New("only noise of the discrete Laplace, Skellam and discrete Gaussian laws is drawn in shares")
	case s.Needed < 1 || s.Added < s.Needed || s.Added > maxShares:
		return fmt.Errorf("of shares, 1 or more must be needed, and as many or more added, up to %d; not %d and %d",
			maxShares,
			s.Needed, s.Added)
	}
	return nil
}

// drawsFor returns the number of draws that the noise on a number of answers amounts to, whole if it is.
func (s Shares) drawsFor(answers int64) float64 {
	if s == (Shares{}) {
		return float64(answers)
	}
	return float64(float64(answers)*float64(s.Added)) / float64(s.Needed)
}
