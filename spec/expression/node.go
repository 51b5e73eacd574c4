package expression

// This file holds the node: a part of an expression, as a tree.

import (
	"math/big"
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
func (n *node) keys() []*node {
	var keys []*node
	for i := 0; i < len(n.args[1].args); i += 2 {
		keys = append(keys, n.args[1].args[i])
	}
	return keys
}
