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

// String is the kind of breach in words. It never holds the value.
func (f Fit) String() string {
	switch f {
	case Fits:
		return "in its domain"
	case OutOfDomain:
		return "outside its domain"
	case NotANumber:
		return "not a number"
	case NaN:
		return "NaN"
	case Infinite:
		return "infinite"
	case WrongType:
		return "of the wrong type"
	}
	return "unknown fit"
}
