package scan

// This file holds Asked: what a [Remote] will be asked, for a program that is not there to be asked and answers all at
// once, by files.

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

// Encode gives codes to the rows of a table, as [Remote] does.
type Encode func(ctx context.Context, number int, made Made, codesOf func(values []arrow.Array) []uint32) error

// Asked is all that the counting of a table asks of a [Remote] once its columns have codes.
type Asked struct {
	Judgement Judgement
	Occurring []int // columns
	Bound     Bound
	Groups    [][]int // sets of columns, each ascending and each once
}

// Inputs returns, by table of those about which questions are asked and that stay where they are, what each column with
// codes is made of.
func Inputs(q histogram.Questions, stays func(*spec.Table) bool) (map[string][]Made, error) {
	all := map[string][]Made{}
	return all, eachStaying(q, stays, func(t *tally) error {
		inputs := make([]Made, len(t.readers))
		for i, e := range t.readers {
			inputs[i] = inputsOf(e)
		}
		all[t.table.Name] = inputs
		return nil
	})
}

// Ask returns what will be asked of the tables for which there is an Encode, by table. What is asked depends on the
// kinds of values that there are, so all columns are given codes first. Its errors are those of the functions.
func Ask(ctx context.Context, q histogram.Questions, s *noise.RowStreams,
	by map[string]Encode) (map[string]Asked, error) {
	all := map[string]Asked{}
	return all, eachStaying(q, func(t *spec.Table) bool { return by[t.Name] != nil }, func(t *tally) error {
		kinds, err := t.encodeRemote(ctx, by[t.table.Name])
		if err != nil {
			return remoteError(ctx, err)
		}
		a := Asked{Judgement: t.judgement(kinds), Bound: t.remoteBound(s)}
		for _, w := range t.expect.watches {
			indexOrAppend(&a.Occurring, w.reader)
		}
		a.Groups, _ = t.columnSets()
		all[t.table.Name] = a
		return nil
	})
}

// eachStaying visits the tallies of the tables that stay where they are and about which questions are asked.
func eachStaying(q histogram.Questions, stays func(*spec.Table) bool, visit func(*tally) error) error {
	// Nothing is discovered of such a table ([CheckRemotes]).
	found := func(table *spec.Table) (*spec.Table, error) { return discoverMadeUp(table, q.Measurements), nil }
	return eachTally(q, 1, found, func(t *tally, asked bool) error {
		if !asked || !stays(t.table) {
			return nil
		}
		return visit(t)
	})
}
