package expression

// This file holds the node of the syntax tree.

import (
	"math/big"
	"slices"
)

type op int

const (
	number op = iota // literals
	text
	date
	timestamp
	boolean
	null
	column // a column of the source, or of a public table
	call   // a function, or an operator by its sign
	list   // [a, b], and the entries of a map: key, value, key, value
)

// node is a part of an expression, from byte at to byte end of its text.
type node struct {
	op      op
	at, end int
	name    string // the column, the function or the sign
	table   string // the public table of a column
	number  *big.Rat
	text    string
	value   int64 // days of a date, microseconds of a timestamp, 0 or 1 of a boolean
	args    []*node

	inferred *kindVariable // the kind that was inferred for it
	typ      Type
}

// isLiteral reports whether the node is written as a value, the same in every row.
func (n *node) isLiteral() bool { return n.op <= null }

// walk visits a node and all nodes below it.
func (n *node) walk(visit func(n *node)) {
	visit(n)
	for _, a := range n.args {
		a.walk(visit)
	}
}

// recodeKeys returns the keys of recode's map.
func (n *node) recodeKeys() []*node { return everySecond(n.args[1].args) }

// branchConditions returns the conditions of if and case.
func (n *node) branchConditions() []*node { return everySecond(n.args[:len(n.args)-1]) }

// choiceNodes returns the parts of which a function returns one: the values of if, case and coalesce, and recode's
// values for its keys and for everything else. It returns nil for other functions.
func (n *node) choiceNodes() []*node {
	switch n.name {
	case "if", "case":
		return append(everySecond(n.args[1:]), n.args[len(n.args)-1])
	case "recode":
		return append(everySecond(n.args[1].args[1:]), n.args[2:]...)
	case "coalesce":
		return n.args
	}
	return nil
}

// recodedValues returns the values of recode, the value for everything else first.
func (n *node) recodedValues() []*node {
	return slices.Concat(n.args[2:], everySecond(n.args[1].args[1:]))
}

// everySecond returns the parts at the even indices.
func everySecond(all []*node) (some []*node) {
	for i := 0; i < len(all); i += 2 {
		some = append(some, all[i])
	}
	return some
}
