package spec

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the release: what a spec says once it has been read, checked and resolved.

// Source is everything public that a release was read from. Parse of the same Source
// gives an equal Release, so a plan that embeds it can be read back without a file system.
type Source struct {
	// Name is the base name of the spec file, for error messages.
	Name string `json:"name"`
	// Text is the YAML as written.
	Text string `json:"text"`
	// Params are the values given for the declared parameters.
	Params map[string]string `json:"params,omitempty"`
	// Files are the code books: path as written in the spec (after parameters) to text.
	Files map[string]string `json:"files,omitempty"`
	// Digests are, for each of Files, those of the whole file as it was read: of its bytes and, where it is compressed, of
	// its text. Where they are missing they are those of the text in Files.
	Digests map[string][]files.Digest `json:"digests,omitempty"`
}

// Release is a validated spec. It is not changed after Parse returns it.
type Release struct {
	Source Source
	// Name matches [a-z0-9][a-z0-9._-]*, at most 100 characters, so it is safe as a file name.
	Name string
	// Corrects is the name of the earlier release that this one corrects, "" for none.
	Corrects string
	About    About
	// Fit are the classes by how precise figures are, the most precise first and that of the rest last; none where the
	// spec says nothing.
	Fit     []FitClass
	Privacy Privacy
	Budget  Budget
	// Tables are in spec order.
	Tables []*Table
	// Marginals are in spec order.
	Marginals []Marginal
	// Impossible are the combinations of categories that no row has, in spec order.
	Impossible []Impossible
	// Invariants are public figures that published counts keep to, in spec order.
	Invariants []Invariant
	// Synthetic says which tables are published as microdata, in spec order, but parents before their children.
	Synthetic []Synthetic
	// Consistent asks that the counts of tables be whole, not negative, and add up across tables.
	Consistent bool
	// Diagnostics is the leaf of the budget that pays for counts of what bounding, clamping and domains leave out, "" for
	// none.
	Diagnostics string
	// Unbuilt names the parts of the language used here that this version does not build,
	// in document order.
	Unbuilt []document.Unbuilt
	// Warnings are for the person who approves; they do not stop anything.
	Warnings []document.Problem
}

// Table returns the table of that name, nil if there is none.
func (r *Release) Table(name string) *Table {
	return find(r.Tables, func(t *Table) bool { return t.Name == name })
}

// find is the first that is meant, nil for none.
func find[T any](all []*T, isMeant func(*T) bool) *T {
	for _, one := range all {
		if isMeant(one) {
			return one
		}
	}
	return nil
}

// About is what a reader of the release is told about it.
type About struct{ Title, Population, Period, Contact string }

// Neighbours is the neighbouring relation on units.
type Neighbours string

// The two neighbouring relations: a unit is added or removed, or replaced by another.
const (
	AddRemove Neighbours = "add-remove"
	Replace   Neighbours = "replace"
)

// Privacy says whom the release protects and where its budget is accounted.
type Privacy struct {
	// Protects is the noun every report uses: person, patient, trip.
	Protects   string
	Neighbours Neighbours
	// Account is the ledger account that the release is charged to, "" where the spec names none.
	Account string
	// Also are the accounts of further datasets that are read, in spec order; they are charged
	// as well.
	Also []string
	// Resume is [Never] where the noise key is kept in memory only, so that a run that is cut
	// off after its debit loses the release; else "", and such a run resumes.
	Resume Resume
	// Total is true where no value of a readable file may stop a run.
	Total bool
}

// Resume says whether a run that was cut off after its debit goes on.
type Resume string

// Never keeps the noise key in memory only.
const Never Resume = "never"

// Budget is the privacy budget in exactly one form: {epsilon}, {rho} or {epsilon, delta}.
// Fields of the other forms are nil.
type Budget struct {
	Epsilon, Delta, Rho *big.Rat
	// Minimise is what the planner makes least inside a leaf.
	Minimise Objective
	// Noise is the law of noise that is asked for; "" leaves the choice under ε and δ to the planner.
	Noise Noise
	// Leaves are in document order, at least one; without a split there is one with Path "".
	Leaves []Leaf
	// Split is the tree by which [Budget.Divide] divides: its leaves, in order, are those of Leaves. It is nil of a budget
	// that was not read from a spec.
	Split []Part
}

// Objective is what is made least inside a leaf of the budget.
type Objective string

// The objectives: the sum of weight × variance over all cells, either among the allocations that leave no table worse
// than measuring it by itself with an equal share, or among all; or the largest weight × variance of a cell.
const (
	Guarded      Objective = "guarded"
	LeastSum     Objective = "sum"
	LeastLargest Objective = "largest"
)

// Leaf is one wall of the budget: an exact part of the whole (of ε for a pure budget, else of ρ), or what its targets
// need.
type Leaf struct {
	Path string
	// Share is the part of the whole; where every leaf has one they sum to exactly 1. It is nil for leaves of targets,
	// where it depends on what these need, and where an amount of ρ is taken from a budget in ε and δ; [Budget.Divide]
	// knows it then.
	Share *big.Rat
	// Needed leaves get what the targets of their marginals need, before anything else is shared out.
	Needed bool
	// Line is where the leaf stands in the spec.
	Line int
}

// Attribute is a column at one of its levels; Level "" is the finest.
type Attribute struct{ Column, Level string }

// String writes the attribute as a spec does: "age.band", or "age" for the finest level.
func (a Attribute) String() string {
	if a.Level == "" {
		return a.Column
	}
	return a.Column + "." + a.Level
}

// Marginal is a declared table of counts.
type Marginal struct {
	Name, Table string
	By          []Attribute
	// Every nil: the one marginal over all of By. Else all subsets of By of those sizes.
	Every []int
	// Leaf is the path of a leaf in Budget.Leaves.
	Leaf string
	// Stats are the statistics asked for, in spec order; Count where the spec does not say.
	Stats []Stat
	// Show is the least noisy count of a group whose other statistics are shown, 0 where all are.
	Show int64
	// PerUnit bounds what one unit adds to the table.
	PerUnit PerUnit
	// Weight is how much the variance of each of its cells counts beside those of other
	// marginals of its leaf; above 0, 1 where the spec does not say.
	Weight *big.Rat
	// Cumulative are those of By along which the table counts up: a row says how many have that category or one before it,
	// in the order of the level.
	Cumulative []Attribute
	// Ranges are those of By for which sums of neighbouring categories are to be accurate, beside the cells that are
	// shown.
	Ranges []Attribute
	// Target is how good the table must be; nil where the spec does not say.
	Target *Target
	// Above is the public threshold of a sparse table, of which those cells are published whose noisy count is larger; 0
	// where every cell is published.
	Above int64
	// Top is how many cells are chosen and published, those with the largest counts as far as that can be told; 0 where
	// cells are not chosen.
	Top int64
	// Line is where the marginal stands in the spec.
	Line int
}

// Target asks that the cells of a table lie within Margin of the exact figure with probability Confidence: each cell,
// or all cells of the table at once.
type Target struct {
	Margin, Confidence *big.Rat
	// Share and At are the percentage and the size of the cell whose product Margin is; nil where it was given as a
	// number.
	Share, At *big.Rat
	AllCells  bool
	// Line is where the target stands in the spec.
	Line int
}

// Impossible says that no row of a table can meet all of Where. Its cells are exact zeros.
type Impossible struct {
	Table string
	Where []Condition
	// Drop says that a row that does is left out; else it is a breach of the table's contract.
	Drop bool
	// Line is where it stands in the spec.
	Line int
}

// Invariant is a public figure for every cell of a marginal: how many rows of a table are in it. Nothing is read from
// the table for it.
type Invariant struct {
	Name, Table string
	// By are the attributes, as the spec names them.
	By []Attribute
	// File is where the figures are from, a key of [Source.Files]; "" where they stand in the spec.
	File string
	// Counts has a figure for each cell, in the order of the domains, the last attribute's fastest. They are whole, none
	// is negative, and their sum is [MaxCount] at most.
	Counts []int64
	// Line is where it stands in the spec.
	Line int
}

// MaxCount bounds the figures of an invariant: their sum is exact in any arithmetic.
const MaxCount = 1 << 40

// Condition is met by the rows whose category of an attribute is one of some: Codes are places among the categories of
// its level, ascending.
type Condition struct {
	Attribute Attribute
	Codes     []int
}

// Synthetic asks for microdata of a table: rows that look like its rows, of which none is one.
type Synthetic struct {
	Table string
	// Leaf is the path of a leaf in Budget.Leaves, which pays for nothing else; "" for microdata that cost nothing, as
	// their model is made of the release's tables.
	Leaf string
	// Method is how they are made.
	Method SyntheticMethod
	// Ways is how many columns AIM measures together at most: 2 or 3; 0 where the spec does not say.
	Ways int
	// By are the columns of the microdata, each at a level; all columns of the table where the spec does not say.
	// A derived one stands beside one that decides it.
	By []Attribute
	// Rows is how many there are, a public number; 0: as many as the noisy total says, or the sizes of parent rows.
	Rows int64
	// Files is how many times rows are drawn from the model, each time into a file of its own; 0: once.
	Files int
	// Parent is the table in which each row's unit has its one parent row, given which the row is drawn; "" for none.
	Parent string
	// Size is the column of the parent's microdata that says how many rows of this table a unit has; "" without a parent.
	Size string
	// Given are the columns of the parent row that go with each row: those of the parent's microdata that are read, and
	// Size.
	Given []Attribute
	// Line is where the microdata stand in the spec.
	Line int
}

// SyntheticMethod names a way to make microdata.
type SyntheticMethod string

// AutoMethod leaves the method to the planner; MST measures a maximum spanning tree of pairs of columns; AIM measures,
// one after another, the sets of columns that a model of all answers before gets most wrong; TablesMethod measures
// nothing, and makes its model of what the tables of the release say.
const (
	AutoMethod   SyntheticMethod = "auto"
	MST          SyntheticMethod = "mst"
	AIM          SyntheticMethod = "aim"
	TablesMethod SyntheticMethod = "tables"
)

// FitClass is one of the classes into which published figures are sorted by how precise they are. A figure is in the
// first class whose AtMost its relative standard error, that of the noise beside the figure, does not pass.
type FitClass struct {
	Name string
	// AtMost is above 0, at most 1 and larger than that of the class before; nil in the last class, which takes the rest.
	AtMost *big.Rat
}

// Total is the sum of the figures: the number of rows.
func (i Invariant) Total() int64 {
	var n int64
	for _, c := range i.Counts {
		n += c
	}
	return n
}

// beyondCounts tells that a marginal has other statistics than a count.
func (m *Marginal) beyondCounts() bool {
	return slices.ContainsFunc(m.Stats, func(s Stat) bool { return !s.Kind.countsRows() })
}
