package residual

import (
	"fmt"
	"math"
	"strconv"
)

// Form is a strategy of ranges as a plan writes it: what it is optimal for ("prefixes" or "ranges"), how its integers
// are found ([Method]), how much of an optimal one is left to the total (κ, an exact decimal), and the size of the
// integers if there are too many columns for the usual one.
type Form struct {
	Sums, Method, Kappa string
	Bits                int
}

// Names of what a strategy of ranges is the best for.
const (
	// Names of what a strategy of ranges is optimal for.
	PrefixSums = "prefixes"
	allRanges  = "ranges"
)

// Form returns the strategy as a plan writes it.
func (r Ranging) Form() Form {
	f := Form{Sums: PrefixSums, Method: string(r.Method), Bits: r.Bits}
	if r.Sums == Ranges {
		f.Sums = allRanges
	}
	if r.Method == Optimal {
		f.Kappa = strconv.FormatFloat(math.Abs(r.Kappa), 'f', -1, 64)
	}
	return f
}

// Ranging reads the strategy. It returns an error for a form that [Ranging.Form] does not write.
func (f Form) Ranging() (Ranging, error) {
	r := Ranging{Sums: Prefixes, Method: Method(f.Method), Bits: f.Bits}
	if f.Sums == allRanges {
		r.Sums = Ranges
	}
	if f.Kappa != "" {
		kappa, err := strconv.ParseFloat(f.Kappa, 64)
		if err != nil {
			return r, fmt.Errorf("κ is not a number: %q", f.Kappa)
		}
		r.Kappa = kappa
	}
	if r.Form() != f {
		return r, fmt.Errorf("there are no such sums, method or κ: %q, %q, %q", f.Sums, f.Method, f.Kappa)
	}
	return r, nil
}
