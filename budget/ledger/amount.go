package ledger

import (
	"encoding/json"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// Amount is a cost in a document that programs read and that is not signed. Its JSON form has every part twice: as
// exact text, which can be summed without loss, and as the nearest floating-point number, for comparisons and charts:
// {"rho": "1/8", "rho_number": 0.125}.
type Amount struct{ budget.Cost }

// AmountOf returns c in its normal form.
func AmountOf(c budget.Cost) Amount { return Amount{normalForm(c)} }

// MarshalJSON writes the amounts in both forms; an invalid cost is an error.
func (a Amount) MarshalJSON() ([]byte, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	var form struct {
		Epsilon       string   `json:"epsilon,omitempty"`
		EpsilonNumber *float64 `json:"epsilon_number,omitempty"`
		Rho           string   `json:"rho,omitempty"`
		RhoNumber     *float64 `json:"rho_number,omitempty"`
		Delta         string   `json:"delta,omitempty"`
		DeltaNumber   *float64 `json:"delta_number,omitempty"`
	}
	form.Epsilon, form.EpsilonNumber = inBothForms(a.Epsilon)
	form.Rho, form.RhoNumber = inBothForms(a.Rho)
	form.Delta, form.DeltaNumber = inBothForms(a.Delta)
	return json.Marshal(form)
}

// inBothForms returns r as exact text and as the nearest number, and zero values for nil.
func inBothForms(r *big.Rat) (exact string, number *float64) {
	if r == nil {
		return "", nil
	}
	nearest, _ := r.Float64()
	return budget.FormatRat(r), &nearest
}
