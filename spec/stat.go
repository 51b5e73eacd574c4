package spec

import (
	"fmt"
	"math/big"
	"strings"
)

// This file holds the statistics of a marginal: what is published of each of its groups.

// StatKind is what a statistic is. Its text is the word by which a spec asks for it.
type StatKind int

// The kinds of statistics. All but Units and Distinct are of rows, with weights where the table has them: Count adds
// the weights up, and the others are what they are of rows that stand for as many as their weights say.
const (
	Count     StatKind = iota
	Sum                       // of a column
	Units                     // units that have a row in the group
	Distinct                  // values of a column that occur, where a unit gives at most so many
	Mean                      // of a column
	Ratio                     // of two terms
	Variance                  // of a column: the mean square of the distance from the mean
	Deviation                 // the root of the variance
	Quantiles                 // of a column; a median is the one of 1/2
	Share                     // of the rows of the group in those of several groups together
	StatKinds int      = iota // how many kinds there are
)

// statKinds says of each kind by which word a spec asks for it, and what is asked of it.
var statKinds = [StatKinds]struct {
	word       string
	rows       bool // it counts the rows of a group
	units      bool // it counts the units of a group
	isQuotient bool // of a sum and a count
}{
	Count: {word: "count", rows: true}, Units: {word: "units", units: true}, Distinct: {word: "distinct"},
	Sum: {word: "sum"}, Mean: {word: "mean", isQuotient: true}, Variance: {word: "variance"},
	Deviation: {word: "deviation"}, Ratio: {word: "ratio"}, Quantiles: {word: "quantiles"}, Share: {word: "share"},
}

// String returns the word of the kind.
func (k StatKind) String() string { return statKinds[k].word }

// countsRows reports whether a statistic is the number of rows.
func (k StatKind) countsRows() bool { return statKinds[k].rows }

// countsUnits reports whether a statistic is the number of units.
func (k StatKind) countsUnits() bool { return statKinds[k].units }

// countsRowsOrUnits reports whether a statistic is a number of rows or units, and of no values.
func (k StatKind) countsRowsOrUnits() bool { return k.countsRows() || k.countsUnits() }

// MarshalText returns the word of the kind.
func (k StatKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the word of a kind.
func (k *StatKind) UnmarshalText(text []byte) error {
	for kind := range StatKind(StatKinds) {
		if kind.String() == string(text) {
			*k = kind
			return nil
		}
	}
	return fmt.Errorf("there is no statistic %q", text)
}

// Stat is one statistic of a marginal, in the order of the spec.
type Stat struct {
	Kind StatKind
	// Name is the name of its columns: what the spec says (as: …), or one made of what it is: count, units, turnover_sum.
	// A quantile's columns are named by it and the share: pay_q25.
	Name string
	// Column is what it is of; "" for Count, Units, Ratio and Share.
	Column string
	// At are the shares of Quantiles, ascending, each above 0 and below 1.
	At []*big.Rat
	// Median says that it is the one quantile of 1/2, which has the statistic's own name.
	Median bool
	// PerUnit is how many values a unit gives at most, for Distinct.
	PerUnit int64
	// Of and Over are the terms of a Ratio.
	Of, Over Term
	// Within are the attributes that the groups of a total have in common, of which a Share is; none: it is the total of
	// the table.
	Within []Attribute
	// Line is where it stands in the spec.
	Line int
}

// QuantileName is the name of the columns of one of the statistic's quantiles: that of a median is its own, of another
// the share in per cent follows, as in pay_q25 or pay_q2_5.
func (s Stat) QuantileName(share *big.Rat) string {
	if s.Median {
		return s.Name
	}
	percent := new(big.Rat).Mul(share, big.NewRat(100, 1))
	text := percent.FloatString(12)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	return s.Name + "_q" + strings.ReplaceAll(text, ".", "_")
}

// Term is what a ratio is made of: over the rows that meet all of Where, how many there are (Count), or the Sum or the
// Mean of a column.
type Term struct {
	Kind   StatKind
	Column string
	Where  []Condition
}

// PerUnit bounds what one unit adds to a table, beside the bound of its own table. 0 stands for no bound. Which of a
// unit's groups and rows stay is drawn under the release's key.
type PerUnit struct {
	Groups       int64 `json:"groups,omitempty"`         // cells that its rows are in
	RowsPerGroup int64 `json:"rows_per_group,omitempty"` // rows in one cell
	Total        int64 `json:"total,omitempty"`          // rows in all
}

// String says the bounds in words.
func (p PerUnit) String() string {
	var parts []string
	say := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(p.Groups, "groups")
	say(p.RowsPerGroup, "rows in a group")
	say(p.Total, "rows in all")
	return "at most " + strings.Join(parts, ", ")
}

// names are the names of a statistic's figures.
func (s Stat) names() []string {
	if s.At == nil {
		return []string{s.Name}
	}
	names := make([]string, len(s.At))
	for i, share := range s.At {
		names[i] = s.QuantileName(share)
	}
	return names
}

// mostQuantiles bounds the quantiles of one statistic.
const mostQuantiles = 100
