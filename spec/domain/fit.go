package domain

// This file holds Fit: how a raw value meets a domain.

// Fit says how a raw value meets a domain. Only with Fits is the code beside it valid.
type Fit int

// The ways a value can meet a domain.
const (
	Fits        Fit = iota
	OutOfDomain     // none of the domain's cells
	NotANumber      // a text that is no number, date or timestamp
	NaN             // the float64 that is not a number
	Infinite        // a float64 beyond all numbers
	WrongType       // a type the domain cannot read
)

var fitWords = [...]string{Fits: "in its domain", OutOfDomain: "outside its domain",
	NotANumber: "not a number", NaN: "NaN", Infinite: "infinite", WrongType: "of the wrong type"}

// String is the kind of breach in words. It never holds the value.
func (f Fit) String() string {
	if f < 0 || int(f) >= len(fitWords) {
		return "unknown fit"
	}
	return fitWords[f]
}
