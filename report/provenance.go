package report

// This file holds where a release comes from and how anyone can check it.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Provenance names what the release was made from, by SHA-256 in hexadecimal.
type Provenance struct {
	PlanHash  string     `json:"plan_hash"` // of plan.json
	SpecHash  string     `json:"spec_hash"` // of the text of the spec
	CodeBooks []CodeBook `json:"code_books"`
	// Public are the tables that rows are joined to, in spec order.
	Public []PublicTable `json:"public_tables,omitempty"`
	Params []Param       `json:"params"`
	// Rows are the conditions under which rows of a table count, in spec order.
	Rows []Rows `json:"rows,omitempty"`
	// Microdata is what the rows of microdata were drawn from.
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

// CodeBook is a public file that the spec reads categories from.
type CodeBook struct {
	Path string `json:"path"` // as written in the spec
	Hash string `json:"hash"`
}

// PublicTable is a public file that columns of a table are looked up in.
type PublicTable struct {
	Table string   `json:"table"` // whose rows are joined to it
	Name  string   `json:"name"`
	Path  string   `json:"path"` // as written in the spec
	On    []string `json:"on"`   // the columns of the key
	Rows  int      `json:"rows"`
	Hash  string   `json:"hash"` // of what the plan holds of it: the key, and the columns that are looked up
}

// String is the public table within a sentence.
func (t PublicTable) String() string {
	return fmt.Sprintf("%s (%s), to which rows of %s are joined by %s,", t.Name, t.Path, t.Table, inWords(t.On))
}

// Rows says which rows of a table count: those for which the expression Where is true.
type Rows struct {
	Table string `json:"table"`
	Where string `json:"where"`
}

// Param is a value that the spec was given.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func provenanceOf(in Input) Provenance {
	p := in.Plan
	out := Provenance{
		PlanHash: p.Hash(), SpecHash: hashOf(p.Source.Text), Software: in.Software,
		CodeBooks: []CodeBook{}, Params: []Param{}, Modules: append([]Module{}, in.Modules...),
	}
	if len(in.Microdata) > 0 {
		out.Microdata = "From the measurements alone: the model is fitted to them without any chance, and its rows are drawn by numbers from the SHA-256 of measurements, plan and purpose, so that whoever draws them again gets the same ones."
	}
	joined, books := map[string]bool{}, map[string]bool{}
	for _, t := range p.Release().Tables {
		if t.Where != nil {
			out.Rows = append(out.Rows, Rows{Table: t.Name, Where: strings.TrimSpace(t.Where.Expression.Text())})
		}
		for _, j := range t.Joins {
			joined[j.File] = true
			out.Public = append(out.Public, PublicTable{Table: t.Name, Name: j.Name, Path: j.File, On: j.On, Rows: j.Rows, Hash: hashOf(p.Source.Files[j.File])})
		}
		for _, c := range t.Columns {
			books[c.Codebook] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.Source.Files)) {
		if joined[path] && !books[path] {
			continue
		}
		out.CodeBooks = append(out.CodeBooks, CodeBook{Path: path, Hash: hashOf(p.Source.Files[path])})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Source.Params)) {
		out.Params = append(out.Params, Param{Name: name, Value: p.Source.Params[name]})
	}
	return out
}

func hashOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// checksOf says how to check a release without trusting this report.
func checksOf(r *Report) []string {
	checks := []string{
		"This page alone cannot be checked: the folder that it lies in can. `dprelease verify FOLDER` derives every file again from the plan and the measurements, without the confidential data, and adds up the privacy loss by other code. That the noise was random, its key erased and the data true nobody can see from outside.",
		"By hand: compare the SHA-256 of every file with manifest.json. `dprelease plan` makes the same plan.json of the spec, whose SHA-256 is " + r.Provenance.PlanHash,
	}
	switch {
	case r.Adapts():
		checks = append(checks, "Of microdata `dprelease verify` holds the rounds against the plan, and draws the rows again, byte for byte.")
	case len(r.Microdata) > 0:
		checks = append(checks, "Of microdata `dprelease verify` draws the rows again, byte for byte.")
	}
	if r.Status == Rehearsal {
		return checks
	}
	who := "the office"
	if r.Status == Practice {
		who = "whoever made it"
	}
	return append(checks, fmt.Sprintf("Ask %s to show debit %d of account %s in the ledger. Its hash is %s",
		who, r.Budget.Receipt.Number, r.Budget.Receipt.Account, r.Budget.Receipt.EntryHash))
}
