package budget

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
)

// Cost is an amount of privacy loss on an account: either an ε, or a ρ with an optional δ (nil is 0). Amounts are exact
// and never negative. The zero Cost is no loss, and adds to either kind. Its JSON form is {"epsilon"} or {"rho",
// "delta"}, with exact rationals in strings.
type Cost struct {
	Epsilon, Rho, Delta *big.Rat
}

// ErrOtherDefinition is returned if an ε is added to or compared with a ρ: the two are kept in separate accounts and
// never converted silently.
var ErrOtherDefinition = errors.New("one amount is in epsilon, the other in rho")

// Definition returns "epsilon" or "rho", or "" for the zero Cost.
func (c Cost) Definition() string {
	switch {
	case c.Epsilon != nil:
		return "epsilon"
	case c.Rho != nil:
		return "rho"
	}
	return ""
}

// Validate returns an error unless c is the zero Cost, one ε ≥ 0, or one ρ ≥ 0
// with a δ in [0, 1) or absent.
func (c Cost) Validate() error {
	if c.Epsilon != nil && (c.Rho != nil || c.Delta != nil) {
		return errors.New("a cost is either an epsilon, or a rho with a delta: not both")
	}
	if c.Rho == nil && c.Delta != nil {
		return errors.New("a cost with a delta needs a rho too")
	}
	for _, amount := range []*big.Rat{c.Epsilon, c.Rho, c.Delta} {
		if amount != nil && amount.Sign() < 0 {
			return errors.New("a cost is never negative")
		}
	}
	if c.Delta != nil && c.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		return errors.New("a delta of 1 or more promises nothing: it must be below 1")
	}
	return nil
}

// Add returns c + d exactly. It returns ErrOtherDefinition if one is an ε and
// the other a ρ.
//
// Guarantee: mechanisms of cost c followed by mechanisms of cost d, even if chosen after seeing the output of the
// first, cost at most c + d, for whatever neighbours both were charged for, as long as the limit was set beforehand: ε
// adds (Dwork, McSherry, Nissim & Smith 2006), ρ and δ add (Bun & Steinke 2016; the filter for adaptively chosen ε and
// ρ: Rogers, Roth, Ullman & Vadhan 2016, Feldman & Zrnic 2021).
func (c Cost) Add(d Cost) (Cost, error) {
	return c.combineParts(d, func(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) })
}

// Sub returns c − d exactly. It returns ErrOtherDefinition as Add does, and an
// error if d is more than c in any part.
func (c Cost) Sub(d Cost) (Cost, error) {
	fits, err := d.Fits(c)
	if err != nil {
		return Cost{}, err
	}
	if !fits {
		return Cost{}, fmt.Errorf("cannot take %s from %s", d, c)
	}
	return c.combineParts(d, func(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) })
}

// Fits reports whether c is at most limit, in ε, or in both ρ and δ. Amounts are compared exactly. The zero Cost fits
// in every limit, and only zero amounts fit in the zero Cost; comparing an ε with a ρ returns ErrOtherDefinition.
func (c Cost) Fits(limit Cost) (bool, error) {
	if err := c.checkComparable(limit); err != nil {
		return false, err
	}
	return orZero(c.Epsilon).Cmp(orZero(limit.Epsilon)) <= 0 &&
		orZero(c.Rho).Cmp(orZero(limit.Rho)) <= 0 &&
		orZero(c.Delta).Cmp(orZero(limit.Delta)) <= 0, nil
}

// Equal reports whether c and d are the same amounts under the same definition.
func (c Cost) Equal(d Cost) bool {
	return c.Definition() == d.Definition() &&
		orZero(c.Epsilon).Cmp(orZero(d.Epsilon)) == 0 &&
		orZero(c.Rho).Cmp(orZero(d.Rho)) == 0 &&
		orZero(c.Delta).Cmp(orZero(d.Delta)) == 0
}

// IsZero reports whether nothing is spent.
func (c Cost) IsZero() bool {
	return orZero(c.Epsilon).Sign() == 0 && orZero(c.Rho).Sign() == 0 && orZero(c.Delta).Sign() == 0
}

func (c Cost) checkComparable(d Cost) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if err := d.Validate(); err != nil {
		return err
	}
	if c.Definition() != d.Definition() && c.Definition() != "" && d.Definition() != "" {
		return ErrOtherDefinition
	}
	return nil
}

func (c Cost) combineParts(d Cost, operation func(a, b *big.Rat) *big.Rat) (Cost, error) {
	if err := c.checkComparable(d); err != nil {
		return Cost{}, err
	}
	part := func(a, b *big.Rat) *big.Rat {
		if a == nil && b == nil {
			return nil
		}
		return operation(orZero(a), orZero(b))
	}
	sum := Cost{part(c.Epsilon, d.Epsilon), part(c.Rho, d.Rho), part(c.Delta, d.Delta)}
	return sum, sum.Validate()
}

func orZero(r *big.Rat) *big.Rat {
	if r == nil {
		return new(big.Rat)
	}
	return r
}

// String writes the amount in words, such as "ε = 0.5" or "ρ = 0.02 and
// δ = 1e-9". Amounts that need more than 12 digits are rounded up and marked
// with ≤, so that the text never understates.
func (c Cost) String() string { return Amounts(c.Epsilon, c.Rho, c.Delta) }

type costJSON struct {
	Epsilon string `json:"epsilon,omitempty"`
	Rho     string `json:"rho,omitempty"`
	Delta   string `json:"delta,omitempty"`
}

// MarshalJSON writes the amounts exactly; an invalid cost is an error.
func (c Cost) MarshalJSON() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(costJSON{FormatRat(c.Epsilon), FormatRat(c.Rho), FormatRat(c.Delta)})
}

// UnmarshalJSON reads what MarshalJSON writes, and validates it.
func (c *Cost) UnmarshalJSON(data []byte) error {
	var text costJSON
	if err := decodeStrict(data, &text); err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	var read Cost
	for _, part := range []struct {
		name, text string
		amount     **big.Rat
	}{{"epsilon", text.Epsilon, &read.Epsilon}, {"rho", text.Rho, &read.Rho}, {"delta", text.Delta, &read.Delta}} {
		if part.text == "" {
			continue
		}
		amount, err := ParseRat(part.text)
		if err != nil {
			return fmt.Errorf("cost %s: %w", part.name, err)
		}
		*part.amount = amount
	}
	if err := read.Validate(); err != nil {
		return err
	}
	*c = read
	return nil
}
