// Package template says what remains of a plan when the values of its parameters change.
//
// It owns the template that standing approvals are given for ([Hash]), and what the specs of one template have in
// common ([Key]). It never judges an approval: whoever keeps the account compares the hashes.
package template

import (
	"encoding/json"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
)

// templateFormat names the layout that [Hash] hashes.
const templateFormat = "dprelease.template/1"

// template is what remains of a plan when the values of its parameters change.
type template struct {
	Format string `json:"format"`
	Plan   string `json:"plan"` // format of the plan
	Spec   string `json:"spec"` // SHA-256 of the text as written, parameters as ${…}
	templateFiles
	Resume    spec.Resume    `json:"resume"`
	Guarantee plan.Guarantee `json:"guarantee"`
	// PublicFigures are the invariants, without the paths of their files.
	PublicFigures []plan.Invariant   `json:"public_figures,omitempty"`
	Cost          budget.Cost        `json:"cost"`
	Leaves        []plan.Leaf        `json:"leaves"`
	Strategies    []strategy.Group   `json:"strategies"`
	Tables        []plan.Table       `json:"tables"`
	Measurements  []plan.Measurement `json:"measurements"`
	Synthetic     []plan.Synthetic   `json:"synthetic,omitempty"`
	Models        []plan.Model       `json:"models,omitempty"`
	TableModels   []plan.Model       `json:"table_models,omitempty"`
}

// templateFiles are the public files of a release by their purpose.
type templateFiles struct {
	Books      []templateBook `json:"books"`
	Maps       []templateBook `json:"maps,omitempty"`       // boundaries of code books
	Public     []templateBook `json:"public,omitempty"`     // tables that rows are joined to
	Invariants []templateBook `json:"invariants,omitempty"` // files of public figures
}

// templateBook is the code book of a column, or a public table or invariant by its name. Its path may contain a
// parameter, so it is identified by that name and by its content.
type templateBook struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Text   string `json:"text"` // SHA-256
}

// Hash returns the SHA-256, in hexadecimal, of the plan with its parameters blank: the spec's text as written, the
// content of its code books, their boundaries, its public tables and the files of its invariants, whether a run
// resumes, guarantee, cost, budget leaves, strategies, tables, measurements, microdata and models. It omits the values
// of parameters and what they alone decide: name, title, what the release corrects and the paths of sources and code
// books. It also omits the name of the spec's file, which decides nothing.
//
// Contract: plans of one text with the same code books, public tables and figures have one template, whatever values
// their parameters have; plans that differ in anything that is promised, charged, asked or published have two, unless
// SHA-256 collides. Standing approvals rest on this.
func Hash(p *plan.Plan) string {
	b, err := json.Marshal(template{
		Format: templateFormat, Plan: p.Format, Spec: p.SpecHash(),
		templateFiles: templateFilesOf(p.Release(), p.Source.Files), Resume: p.Resume,
		Guarantee: p.Guarantee, PublicFigures: blankInvariants(p), Cost: p.Cost, Leaves: p.Leaves,
		Strategies: p.Strategies, Tables: p.Tables,
		Measurements: p.Measurements, Synthetic: p.Synthetic, Models: p.Models, TableModels: p.TableModels,
	})
	if err != nil {
		panic("template: a template always encodes: " + err.Error())
	}
	return plan.HashOf(b)
}

// blankInvariants returns the public figures without the paths of their files.
func blankInvariants(p *plan.Plan) []plan.Invariant {
	all := slices.Clone(p.Invariants)
	for k := range all {
		all[k].From = ""
	}
	return all
}

// templateFilesOf returns the public files of a release, in the order of the spec, with their texts by path.
func templateFilesOf(r *spec.Release, texts map[string]string) (f templateFiles) {
	book := func(table, name, path string) templateBook {
		return templateBook{table, name, plan.HashOf([]byte(texts[path]))}
	}
	for _, table := range r.Tables {
		for _, c := range table.Columns {
			if c.Codebook != "" {
				f.Books = append(f.Books, book(table.Name, c.Name, c.Codebook))
			}
			if c.Map != nil {
				f.Maps = append(f.Maps, book(table.Name, c.Name, c.Map.File))
			}
		}
		for _, j := range table.Joins {
			f.Public = append(f.Public, book(table.Name, j.Name, j.File))
		}
	}
	for _, i := range r.Invariants {
		if i.File != "" {
			f.Invariants = append(f.Invariants, book(i.Table, i.Name, i.File))
		}
	}
	return f
}

// Key returns the SHA-256, in hexadecimal, of what a release has in common with all that differ from it only in the
// values of their parameters: the text of the spec as written, and the content of its public files.
func Key(r *spec.Release) string {
	b, err := json.Marshal(struct {
		Format string `json:"format"`
		Spec   string `json:"spec"`
		templateFiles
	}{plan.Format, plan.HashOf([]byte(r.Source.Text)), templateFilesOf(r, r.Source.Files)})
	if err != nil {
		panic("template: the key of a template always encodes: " + err.Error())
	}
	return plan.HashOf(b)
}
