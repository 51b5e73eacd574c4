package report

// This file holds the provenance of a release.

import (
	"github.com/dprelease/dprelease/spec/language"
)

// Provenance names what the release was made from, by SHA-256 in hexadecimal.
type Provenance struct {
	PlanHash  string     `json:"plan_hash"` // of plan.json
	SpecHash  string     `json:"spec_hash"` // of the text of the spec
	CodeBooks []CodeBook `json:"code_books"`
	// Public are the tables to which rows are joined, in spec order.
	Public []PublicTable `json:"public_tables,omitempty"`
	Params []Param       `json:"params"`
	// Rows are the conditions under which rows of a table count, in spec order.
	Rows []Rows `json:"rows,omitempty"`
	// Microdata says what the rows of microdata were drawn from.
	Microdata string   `json:"microdata,omitempty"`
	Software  string   `json:"software"`
	Modules   []Module `json:"modules"`
}

// Module is a Go module that the program was built from.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum"` // as in go.sum
}

// CodeBook is a public file from which the spec reads categories.
type CodeBook struct {
	Path string `json:"path"` // as written in the spec
	Hash string `json:"hash"`
}

// PublicTable is a public file in which columns of a table are looked up.
type PublicTable struct {
	Table string   `json:"table"` // the table whose rows are joined to it
	Name  string   `json:"name"`
	Path  string   `json:"path"` // as written in the spec
	On    []string `json:"on"`   // the columns of the key
	Rows  int      `json:"rows"`
	Hash  string   `json:"hash"` // of its extract in the plan: the key, and the columns that are looked up
}

// In describes the public table within a sentence.
func (t PublicTable) In(l *language.Language) string {
	return l.Text("%s (%s), to which rows of %s are joined by %s,", t.Name, t.Path, t.Table, l.List(t.On))
}

// Rows says which rows of a table count: those for which the expression Where is true.
type Rows struct {
	Table string `json:"table"`
	Where string `json:"where"`
}

// Param is a value given for a parameter of the spec.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
