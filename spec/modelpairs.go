package spec

// This file reads the pairs of columns of a model, which have tables of scores of their own.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
)

// mostPairs is how many pairs a model may have.
const mostPairs = 16

// pairsShape is the shape of a list of pairs.
func pairsShape() *shape.Shape {
	return shape.List("a list of 1 to 16 pairs of attributes, such as [[age.band, sex]]",
		shape.List("two attributes of by, such as [age.band, sex]",
			shape.Text("an attribute of by, such as age or age.band"), 2, 2), 1, mostPairs)
}

// readPairs reads the pairs of a model, by the indices of their attributes in its by.
func (r *reader) readPairs(n document.Node, method ModelMethod) (all [][2]int) {
	pairs := n.Get("pairs")
	if pairs.Present() && method != AdditiveModel {
		r.WrongKey(pairs, document.Problem{
			Message:  "a pair has a table of scores, and a regression has coefficients instead",
			Expected: "no pairs, or method: additive"})
		return nil
	}
	by := n.Get("by").Texts()
	for _, item := range pairs.Items() {
		pair, ok := r.readPair(item, by)
		switch reversed := [2]int{pair[1], pair[0]}; {
		case !ok:
		case slices.Contains(all, pair) || slices.Contains(all, reversed):
			r.AddProblem(item, document.Problem{
				Message:  fmt.Sprintf("the pair of %s and %s appears twice", by[pair[0]], by[pair[1]]),
				Expected: "each pair once, in whichever order"})
		default:
			all = append(all, pair)
		}
	}
	return all
}

// readPair reads a pair. It reports whether there is no problem with it.
func (r *reader) readPair(n document.Node, by []string) (pair [2]int, ok bool) {
	items := n.Items()
	if len(items) != len(pair) {
		return pair, false // already reported
	}
	ok = true
	for i, item := range items {
		if pair[i] = slices.Index(by, item.Text()); pair[i] < 0 {
			ok = false
			r.AddProblem(item, r.notInBy(item, by))
		}
	}
	if ok && pair[0] == pair[1] {
		ok = false
		r.AddProblem(items[1], document.Problem{Message: fmt.Sprintf("%s makes a pair with itself", by[pair[1]]),
			Expected: "two different attributes"})
	}
	return pair, ok
}
