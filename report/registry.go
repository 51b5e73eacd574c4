package report

import (
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report/internal/words"
)

// This file holds the entry of a release in a public registry of deployments.

// RegistryFormat names the layout of a registry entry. docs/registry.md documents
// its fields.
const RegistryFormat = "dprelease.registry/1"

// Registry is what a public registry of deployments of differential privacy asks about one: who promises what to whom,
// with which parameters, and how that can be checked. All of it is taken from the report.
type Registry struct {
	Format         string       `json:"format"`
	Release        string       `json:"release"`
	Title          string       `json:"title"`
	Status         Status       `json:"status"`
	Contact        string       `json:"contact"` // of the organisation responsible for it
	Date           string       `json:"date"`    // of the debit
	Population     string       `json:"population"`
	Protected      Protected    `json:"protected"`
	Guarantee      Stated       `json:"guarantee"`
	Accountant     string       `json:"accountant"` // how the loss was composed
	Mechanisms     []Noise      `json:"mechanisms"`
	Data           Data         `json:"data_release"`
	Account        Paid         `json:"account"`
	Approvals      []Approval   `json:"approvals"`
	Implementation string       `json:"implementation"`
	Verification   Verification `json:"verification"`
	Hazards        []Hazard     `json:"hazards"`
}

// Protected says who is protected.
type Protected struct {
	Noun       string `json:"noun"` // person, household, trip
	Unit       string `json:"unit"` // which rows make up one unit
	MaxRows    int64  `json:"max_rows"`
	Neighbours string `json:"neighbours"`
}

// Stated is the guarantee with its exact parameters, and their equivalents.
type Stated struct {
	// Model is "central" where somebody who is trusted has the data, and "local" where respondents' devices randomised
	// the answers. Shuffled is what shuffling adds to a local promise.
	Model       string            `json:"model"`
	Shuffled    *plan.Shuffled    `json:"shuffled,omitempty"`
	Definition  string            `json:"definition"`
	Epsilon     string            `json:"epsilon,omitempty"`
	Delta       string            `json:"delta,omitempty"`
	Rho         string            `json:"rho,omitempty"`
	Equivalents []plan.Equivalent `json:"equivalents"`
	Statement   string            `json:"statement"`
	GivenAway   []string          `json:"given_away"`
	Assumptions []string          `json:"assumptions"`
}

// Data is what was released.
type Data struct {
	Kind       string      `json:"kind"` // "tables", "microdata", or "tables and microdata"
	Tables     int         `json:"tables"`
	Numbers    int64       `json:"numbers"`
	Attributes []string    `json:"attributes"`
	Accuracy   string      `json:"accuracy"` // a sentence
	Microdata  []DrawnRows `json:"microdata,omitempty"`
}

// DrawnRows are microdata that were released.
type DrawnRows struct {
	Table    string   `json:"table"`
	Columns  []string `json:"columns"`
	Rows     int64    `json:"rows"`
	Method   string   `json:"method"`
	Accuracy string   `json:"accuracy"` // always "model only: no interval"
}

// Paid is the debit.
type Paid struct {
	Name        string `json:"name"`
	Cost        Amount `json:"cost"`
	Number      int64  `json:"number"`
	EntryHash   string `json:"entry_hash"`
	Comparisons int64  `json:"comparisons_with_the_truth"`
	Witnessed   bool   `json:"rollback_is_noticed"`
}

// Verification says how anyone can check the release.
type Verification struct {
	Command  string `json:"command"`
	PlanHash string `json:"plan_hash"`
	SpecHash string `json:"spec_hash"`
	// URL is where the release can be obtained; the organisation fills it in.
	URL string `json:"url"`
}

// Registry returns the release's entry.
func (r *Report) Registry() Registry {
	g, c := r.Guarantee, r.Certificate
	attributes := make([]string, len(c.Loss.Attributes))
	for i, one := range c.Loss.Attributes {
		attributes[i] = one.Of
	}
	data := Data{Kind: "tables", Tables: len(r.Tables), Numbers: r.Accuracy.Numbers, Attributes: attributes,
		Accuracy: r.Accuracy.Sentence}
	for _, m := range r.Microdata {
		data.Kind = words.Either(len(r.Tables) == 0, "microdata", "tables and microdata")
		one := DrawnRows{Table: m.Table, Rows: m.Rows, Method: m.Method, Accuracy: m.Interval}
		for _, c := range m.Columns {
			one.Columns = append(one.Columns, c.Name)
		}
		data.Microdata = append(data.Microdata, one)
	}
	stated := Stated{
		Model: "central", Definition: g.Definition, Epsilon: g.Epsilon, Delta: g.Delta, Rho: g.Rho,
		Equivalents: g.Equivalents, Statement: g.Statement, GivenAway: c.GivenAway, Assumptions: c.Assumptions,
	}
	if r.Collection != nil {
		stated.Model, stated.Shuffled = "local", r.Collection.Shuffled
	}
	return Registry{
		Format: RegistryFormat, Release: r.Release, Title: r.Title, Status: r.Status, Contact: r.Contact, Date: r.Date,
		Population: r.Population,
		Protected:  Protected{Noun: g.Protects, Unit: g.Unit, MaxRows: g.MaxRows, Neighbours: g.Neighbours},
		Guarantee:  stated,
		Accountant: g.Method, Mechanisms: c.Mechanisms,
		Data: data,
		Account: Paid{
			Name: r.Budget.Receipt.Account, Cost: r.Budget.Receipt.Cost, Number: r.Budget.Receipt.Number,
			EntryHash:   r.Budget.Receipt.EntryHash,
			Comparisons: c.Account.Comparisons, Witnessed: c.Account.Witnessed,
		},
		Approvals: c.Approvals, Implementation: r.Provenance.Software,
		Verification: Verification{
			Command:  "dprelease verify FOLDER" + words.When(r.Budget.Receipt.Signed, " --trust office.pub"),
			PlanHash: r.Provenance.PlanHash, SpecHash: r.Provenance.SpecHash,
		},
		Hazards: c.Hazards,
	}
}

// JSON returns the entry as an indented document with a final newline.
func (e Registry) JSON() []byte { return canonical.Must(canonical.Indented(e)) }
