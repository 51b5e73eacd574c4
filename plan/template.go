package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the template: a plan with its parameters blank.

// templateFormat names the layout that [Plan.Template] hashes.
const templateFormat = "dprelease.template/1"

// template is what stays of a plan when the values of its parameters do not.
type template struct {
	Format       string         `json:"format"`
	Plan         string         `json:"plan"` // format of the plan
	Spec         string         `json:"spec"` // SHA-256 of the text as written, parameters as ${…}
	Books        []templateBook `json:"books"`
	Maps         []templateBook `json:"maps,omitempty"`       // boundaries of code books
	Public       []templateBook `json:"public,omitempty"`     // tables that rows are joined to
	Invariants   []templateBook `json:"invariants,omitempty"` // files of public figures
	Resume       spec.Resume    `json:"resume"`
	Guarantee    Guarantee      `json:"guarantee"`
	Cost         budget.Cost    `json:"cost"`
	Leaves       []Leaf         `json:"leaves"`
	Strategies   []Strategy     `json:"strategies"`
	Tables       []Table        `json:"tables"`
	Measurements []Measurement  `json:"measurements"`
	Synthetic    []Synthetic    `json:"synthetic,omitempty"`
}

// templateBook is the code book of a column, or a public table or invariant by its name. Its path may hold a parameter, so it
// is known by that name and by what it says.
type templateBook struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Text   string `json:"text"` // SHA-256
}

// Template is the SHA-256, in hexadecimal, of the plan with its parameters
// blank: the spec's text as written, what its code books, their boundaries, its public tables and the files of its invariants say, whether a run
// resumes, guarantee, cost, budget leaves, strategies, tables,
// measurements and microdata. Left out are the values of
// parameters and what they alone decide: name, title, what the release corrects and the
// paths of sources and code books. Left out too is the name of the spec's file,
// which decides nothing.
//
// Contract: plans of one text with the same code books, public tables and figures have one template,
// whatever values their parameters have; plans that differ in anything that is
// promised, charged, asked or published have two, unless SHA-256 collides.
// Standing approvals rest on this.
func (p *Plan) Template() string {
	t := template{
		Format: templateFormat, Plan: p.Format, Spec: p.SpecHash(), Resume: p.Resume, Guarantee: p.Guarantee, Cost: p.Cost,
		Leaves: p.Leaves, Strategies: p.Strategies, Tables: p.Tables, Measurements: p.Measurements, Synthetic: p.Synthetic,
	}
	for _, table := range p.release.Tables {
		for _, c := range table.Columns {
			if c.Codebook != "" {
				t.Books = append(t.Books, templateBook{table.Name, c.Name, hashOf([]byte(p.Source.Files[c.Codebook]))})
			}
		}
		for _, c := range table.Columns {
			if c.Map != nil {
				t.Maps = append(t.Maps, templateBook{table.Name, c.Name, hashOf([]byte(p.Source.Files[c.Map.File]))})
			}
		}
		for _, j := range table.Joins {
			t.Public = append(t.Public, templateBook{table.Name, j.Name, hashOf([]byte(p.Source.Files[j.File]))})
		}
	}
	for _, i := range p.release.Invariants {
		if i.File != "" {
			t.Invariants = append(t.Invariants, templateBook{i.Table, i.Name, hashOf([]byte(p.Source.Files[i.File]))})
		}
	}
	b, err := json.Marshal(t)
	if err != nil {
		panic("plan: a template always encodes: " + err.Error())
	}
	return hashOf(b)
}

// hashOf is a SHA-256 in hexadecimal.
func hashOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
