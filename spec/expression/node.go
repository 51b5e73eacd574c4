package expression

// This file holds the node: a part of an expression, as a tree.

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

	kind *variable // what it is found to be
	of   Type
}

// literal is true for what has the same value in every row because it is written so.
func (n *node) literal() bool { return n.op <= null }

// each visits a node and all below it.
func (n *node) each(visit func(n *node)) {
	visit(n)
	for _, a := range n.args {
		a.each(visit)
	}
}

// keys are those of the map of recode.
func (n *node) keys() []*node { return everySecond(n.args[1].args) }

// conditions are those of if and case.
func (n *node) conditions() []*node { return everySecond(n.args[:len(n.args)-1]) }

// choices are the parts of which a function gives one: the values of if, case and coalesce, and what recode makes of
// its keys and of all else; nil of other functions.
func (n *node) choices() []*node {
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

// recoded is what recode makes of anything: of what the map does not have first.
func (n *node) recoded() []*node { return slices.Concat(n.args[2:], everySecond(n.args[1].args[1:])) }

// everySecond are the first of some parts, the third, and so on.
func everySecond(all []*node) (some []*node) {
	for i := 0; i < len(all); i += 2 {
		some = append(some, all[i])
	}
	return some
}
