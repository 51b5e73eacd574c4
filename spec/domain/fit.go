package domain

// This file holds Fit: whether and why a raw value fits a domain.

// Fit reports whether a raw value fits a domain. A code returned with it is valid only if it is Fits.
type Fit int

// The outcomes.
const (
	Fits        Fit = iota
	OutOfDomain     // in none of the domain's cells
	NotANumber      // a text that is not a number, date or timestamp
	NaN             // the float64 that is not a number
	Infinite        // a float64 infinity
	WrongType       // a type that the domain cannot read
)

var fitWords = [...]string{Fits: "in its domain", OutOfDomain: "outside its domain",
	NotANumber: "not a number", NaN: "NaN", Infinite: "infinite", WrongType: "of the wrong type"}

// String describes the outcome in words. The text never contains the value.
func (f Fit) String() string {
	if f < 0 || int(f) >= len(fitWords) {
		return "unknown fit"
	}
	return fitWords[f]
}
