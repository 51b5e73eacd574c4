package spec

import (
	"cmp"
	"math/big"
	"reflect"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the release: the content of a spec once it has been read, checked and resolved.

// Source is everything public that a release was read from. Parse of the same Source returns an equal Release, so a
// plan that embeds it can be read back without a file system.
type Source struct {
	// Name is the base name of the spec file, for error messages.
	Name string `json:"-"`
	// Text is the YAML. That of a release is in canonical form: without comments, layout and words.
	Text string `json:"text"`
	// Params are the values given for the declared parameters.
	Params map[string]string `json:"params,omitempty"`
	// Files maps the paths of public files, as written in the spec and with parameters filled in, to their texts. Those
	// of a release are without words: its code books have no labels.
	Files map[string]string `json:"files,omitempty"`
	// Digests are, for each of Files without words, the digests of the whole file as it was read: of its bytes and, if
	// it is compressed, of its text. If they are missing, they are the digests of the text in Files.
	Digests map[string][]files.Digest `json:"digests,omitempty"`
}

// Release is a validated spec. It is immutable after Parse returns it.
type Release struct {
	Source Source
	// Words are the texts that people read, as the spec has them; nil for a release that was read without them.
	Words *Words
	// About is what Words say about the release, with parameters filled in.
	About About
	// Name matches [a-z0-9][a-z0-9._-]* and has at most 100 characters, so that it is safe as a file name.
	Name string
	// Corrects is the name of the earlier release that this one corrects, "" for none.
	Corrects string
	// Fit are the classes of precision, the most precise first and the class of the rest last; empty if the spec
	// defines none.
	Fit     []FitClass
	Privacy Privacy
	Budget  Budget
	// Collection is how the answers of its tables are collected under local differential privacy, nil if the tables
	// hold rows.
	Collection *Collection
	// Holders are those who make the release together, nil if all data are in one place.
	Holders *Holders
	// Tables are in spec order.
	Tables []*Table
	// Marginals are in spec order.
	Marginals []Marginal
	// Impossible are the combinations of categories that no row has, in spec order.
	Impossible []Impossible
	// Invariants are public figures with which published counts agree, in spec order.
	Invariants []Invariant
	// Synthetic are the tables that are published as microdata, in spec order, except that parents precede their
	// children.
	Synthetic []Synthetic
	// Models are the models, in spec order.
	Models []Model
	// Consistent asks for counts that are whole, not negative, and that add up across tables.
	Consistent bool
	// Diagnostics is the leaf of the budget that pays for counts of what bounding, clamping and domains leave out, ""
	// for none.
	Diagnostics string
	// Unbuilt lists the uses of parts of the language that this version does not build, in document order.
	Unbuilt []document.Unbuilt
	// Warnings are for the person who approves the release; they stop nothing.
	Warnings []document.Problem

	written string // see Written
}

// Written returns the YAML as it was read, comments and words included: positions of problems are in this text. Of a
// plan's release it is the canonical text.
func (r *Release) Written() string { return r.written }

// EqualButWords reports whether two releases are equal but for the words, and for the positions of problems.
func (r *Release) EqualButWords(other *Release) bool {
	bare := func(r *Release) Release {
		out := *r
		out.Source.Name, out.Words, out.About, out.written = "", nil, About{}, ""
		out.Unbuilt, out.Warnings = nil, make([]document.Problem, len(r.Warnings))
		for i, p := range r.Warnings {
			out.Warnings[i].Message = p.Message
		}
		return out
	}
	return reflect.DeepEqual(bare(r), bare(other))
}

// Table returns the table of that name, nil if there is none.
func (r *Release) Table(name string) *Table {
	return findFirst(r.Tables, func(t *Table) bool { return t.Name == name })
}

// findFirst returns the first element for which isMeant is true, nil if there is none.
func findFirst[T any](all []*T, isMeant func(*T) bool) *T {
	for _, one := range all {
		if isMeant(one) {
			return one
		}
	}
	return nil
}

// Neighbours is the neighbouring relation on units.
type Neighbours string

// The two neighbouring relations: a unit is added or removed, or replaced by another.
const (
	AddRemove Neighbours = "add-remove"
	Replace   Neighbours = "replace"
)

// Privacy says whom the release protects and where its budget is accounted.
type Privacy struct {
	// Protects is the noun that every report uses for a unit: person, patient, trip.
	Protects   string
	Neighbours Neighbours
	// Account is the ledger account that the release is charged to, "" if the spec names none.
	Account string
	// FurtherAccounts are the accounts of further datasets that are read, in spec order; they are charged too.
	FurtherAccounts []string
	// Resume is [Never] if the noise key is kept only in memory, so that a run that is interrupted after its debit
	// loses the release. With "" such a run resumes.
	Resume Resume
	// Total reports that no value of a readable file may stop a run.
	Total bool
}

// Resume says whether a run that was interrupted after its debit continues.
type Resume string

// Never keeps the noise key only in memory.
const Never Resume = "never"

// Budget is the privacy budget in exactly one form: {epsilon}, {rho} or {epsilon, delta}. Fields of the other forms are
// nil.
type Budget struct {
	Epsilon, Delta, Rho *big.Rat
	// Minimise is what the planner minimises within a leaf.
	Minimise Objective
	// Noise is the requested noise distribution; "" leaves the choice under ε and δ to the planner.
	Noise Noise
	// Leaves are in document order, at least one; without a split there is one with Path "".
	Leaves []Leaf
	// Split is the tree by which [Budget.Divide] divides; its leaves, in order, correspond to Leaves. It is nil for a
	// budget that was not read from a spec.
	Split []Part
}

// Objective is what the planner minimises within a leaf of the budget.
type Objective string

// The objectives: the sum of weight × variance over all cells, either among the allocations that leave no table worse
// than measuring it by itself with an equal share, or among all allocations; or the largest weight × variance of a
// cell.
const (
	Guarded      Objective = "guarded"
	LeastSum     Objective = "sum"
	LeastLargest Objective = "largest"
)

// Leaf is a leaf of the budget's split: an exact part of the whole (of ε for a pure budget, of ρ for others), or what
// its targets need.
type Leaf struct {
	Path string
	// Share is the part of the whole; if every leaf has one, they sum to exactly 1. It is nil for a leaf of targets,
	// whose part depends on what these need, and where an amount of ρ is taken from a budget in ε and δ.
	// [Budget.Divide] resolves both.
	Share *big.Rat
	// Needed reports that the leaf gets what the targets of its marginals need, before anything else is divided.
	Needed bool
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
	// Every is nil for the single marginal over all of By. Otherwise it lists the sizes of the subsets of By, each of
	// which is a marginal.
	Every []int
	// Each lists the levels of a column at each of which the marginal is a table, by that level and By; nil for one
	// table.
	Each []EachLevel
	// Leaf is the path of a leaf in Budget.Leaves; "" if each level has a leaf of its own.
	Leaf string
	// Stats are the requested statistics, in spec order; Count if the spec names none.
	Stats []Stat
	// Show is the least noisy count of a group whose other statistics are shown, 0 if all are.
	Show int64
	// PerUnit bounds the contribution of one unit to the table.
	PerUnit PerUnit
	// Weight is how much the variance of each cell counts relative to other marginals of its leaf; it is above 0, and 1
	// by default.
	Weight *big.Rat
	// Cumulative are the attributes of By along which the table counts up: a row counts the rows with that category or
	// an earlier one, in the order of the level.
	Cumulative []Attribute
	// Ranges are the attributes of By for which sums of neighbouring categories should be accurate, in addition to the
	// published cells.
	Ranges []Attribute
	// Target is the required accuracy of the table, nil if the spec gives none.
	Target *Target
	// Above is the public threshold of a sparse table, which publishes the cells with larger noisy counts; 0 if every
	// cell is published.
	Above int64
	// Top is the number of cells that are selected and published, privately, for their large counts; 0 if cells are not
	// selected.
	Top int64
}

// EachLevel is a level at which a marginal with `each` is a table, and the leaf that pays for it.
type EachLevel struct {
	Attribute Attribute
	Leaf      string
}

// PaidBy returns the leaves that pay for the marginal's tables.
func (m *Marginal) PaidBy() []string {
	if m.Each == nil {
		return []string{m.Leaf}
	}
	var all []string
	for _, l := range m.Each {
		if !slices.Contains(all, l.Leaf) {
			all = append(all, l.Leaf)
		}
	}
	return all
}

// Name returns what tables, and a budget that is split by level first, call the level: its name, or for the finest that
// of the column.
func (l EachLevel) Name() string { return cmp.Or(l.Attribute.Level, l.Attribute.Column) }

// Target asks that the cells of a table lie within Margin of the exact figure with probability Confidence: each cell,
// or all cells of the table simultaneously.
type Target struct {
	Margin, Confidence *big.Rat
	// Share and At are the percentage and the size of a cell whose product is Margin; nil if the margin was given as a
	// number.
	Share, At *big.Rat
	AllCells  bool
}

// Impossible says that no row of a table can meet all of Where. Cells of such rows are exact zeros.
type Impossible struct {
	Table string
	Where []Condition
	// Drop leaves out a row that meets Where; without it, such a row is a breach of the table's contract.
	Drop bool
}

// Invariant is a public figure for every cell of a marginal: the number of a table's rows in it. Nothing is read from
// the table for it.
type Invariant struct {
	Name, Table string
	// By are the attributes, as the spec names them.
	By []Attribute
	// File is the file of the figures, a key of [Source.Files]; "" if they are written in the spec.
	File string
	// Counts has a figure for each cell, in the order of the domains, the last attribute's varying fastest. Figures are
	// whole and not negative, and their sum is at most [MaxCount].
	Counts []int64
}

// MaxCount bounds the sum of an invariant's figures, so that it is exact in any arithmetic.
const MaxCount = 1 << 40

// Condition selects the rows with one of some categories of an attribute: Codes are indices among the categories of its
// level, ascending.
type Condition struct {
	Attribute Attribute
	Codes     []int
}

// Synthetic asks for microdata of a table: rows that resemble its rows, none of which is a row of the table.
type Synthetic struct {
	Table string
	// Leaf is the path of a leaf in Budget.Leaves that pays for nothing else; "" for microdata that cost nothing
	// because their model is made from the release's tables.
	Leaf string
	// Method is the way in which they are made.
	Method SyntheticMethod
	// Ways is the largest number of columns that AIM measures together, 2 or 3; 0 if the spec does not set it.
	Ways int
	// By are the columns of the microdata, each at a level; by default all columns of the table. A derived column is
	// included only with a column that decides it.
	By []Attribute
	// Rows is the public number of rows; with 0 the noisy total, or the sizes of parent rows, decide it.
	Rows int64
	// Files is the number of times that rows are drawn from the model, each time into a file of its own; 0 means once.
	Files int
	// Parent is the table in which each row's unit has its only parent row; the row is drawn conditionally on that row.
	// It is "" if there is none.
	Parent string
	// Size is the column of the parent's microdata with the number of rows of this table that a unit has; "" without a
	// parent.
	Size string
	// Given are the columns of the parent row on which each row is conditioned: the columns of the parent's microdata
	// that are read, and Size.
	Given []Attribute
}

// SyntheticMethod names a way to make microdata.
type SyntheticMethod string

// AutoMethod leaves the method to the planner. MST measures a maximum spanning tree of pairs of columns. AIM measures,
// one after another, the sets of columns that a model of all earlier answers fits worst. TablesMethod measures nothing,
// and makes its model from the tables of the release.
const (
	AutoMethod   SyntheticMethod = "auto"
	MST          SyntheticMethod = "mst"
	AIM          SyntheticMethod = "aim"
	TablesMethod SyntheticMethod = "tables"
)

// Model asks for a model that predicts one column of a table from others, and is published by itself.
type Model struct {
	Name  string
	Table string
	// Leaf is the path of a leaf in Budget.Leaves that pays for nothing else.
	Leaf string
	// Target is the column that is predicted, at its finest level.
	Target Attribute
	// Class is the category of the target whose probability is predicted; -1 if the target is predicted as a number.
	Class int
	// By are the columns from which it is predicted, each at a level and each once.
	By []Attribute
	// Pairs are the pairs of By, by index, that have a table of scores of their own.
	Pairs  [][2]int
	Method ModelMethod
	// Steps are those that each holder takes between two averages of a FederatedModel; 0 of other methods.
	Steps int
	// Link is how the mean of a number follows from the scores of an additive model; "" if the target is predicted as a
	// category, or by a regression.
	Link ModelLink
	// Test is the share of the rows that are held out, to measure how well the model predicts; nil for none.
	Test *big.Rat
	// FromTables reports whether a regression is made of the published tables, and so needs no leaf.
	FromTables bool
}

// ModelMethod names a way to fit a model.
type ModelMethod string

// AdditiveModel is a sum of one table of scores for each column, fitted in rounds. LinearModel and LogisticModel are
// regressions, fitted to noisy sums of products. GradientModel is a logistic regression, fitted by gradient descent;
// FederatedModel is one to which several holders come by federated averaging.
const (
	AdditiveModel  ModelMethod = "additive"
	LinearModel    ModelMethod = "linear"
	LogisticModel  ModelMethod = "logistic"
	GradientModel  ModelMethod = "gradient"
	FederatedModel ModelMethod = "fedavg"
)

// ModelLink names how the mean of a number follows from a sum of scores.
type ModelLink string

// IdentityLink adds scores up to the mean, LogLink to its logarithm.
const (
	IdentityLink ModelLink = "identity"
	LogLink      ModelLink = "log"
)

// FitClass is a class of precision of published figures. A figure is in the first class whose AtMost is not exceeded by
// its relative standard error, which is the published standard error of its noise relative to the figure.
type FitClass struct {
	Name string
	// AtMost is above 0, at most 1, and larger than AtMost of the class before; nil in the last class, which takes the
	// rest.
	AtMost *big.Rat
}

// Total returns the sum of the figures, which is the number of rows.
func (i Invariant) Total() int64 {
	var n int64
	for _, c := range i.Counts {
		n += c
	}
	return n
}

// hasOtherStatistics reports whether a marginal has statistics other than counts of rows.
func (m *Marginal) hasOtherStatistics() bool {
	return slices.ContainsFunc(m.Stats, func(s Stat) bool { return !s.Kind.countsRows() })
}

// Asked returns the column whose numbers the question of a marginal asks for, of which the marginal shows sums or
// means; "" if it shows counts alone.
func (m *Marginal) Asked() string {
	for _, s := range m.Stats {
		if s.Column != "" {
			return s.Column
		}
	}
	return ""
}
