package expression

// This file finds the constants that an expression may return.

import "math/big"

// Constant is a literal that is the expression's value in some rows, from byte At to byte End of its text: a text, or a
// number where Number is not nil.
type Constant struct {
	Text    string
	Number  *big.Rat
	At, End int
}

// Constants returns the literals that the choices of an expression may end in, in the order of its text. Values that
// functions compute from constants are not among them.
func (e *Expression) Constants() []Constant { return appendConstants(nil, e.root) }

func appendConstants(all []Constant, n *node) []Constant {
	switch {
	case n.op == text:
		return append(all, Constant{Text: n.text, At: n.at, End: n.end})
	case n.op == number:
		return append(all, Constant{Number: n.number, At: n.at, End: n.end})
	case n.op != call:
		return all
	}
	for _, a := range n.choiceNodes() {
		all = appendConstants(all, a)
	}
	return all
}
