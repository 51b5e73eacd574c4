package report

// This file holds the report: the value that every page is rendered from.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
)

// Format names the layout of report.json.
const Format = "dprelease.report/1"

// Input is everything that a report is made from.
type Input struct {
	Plan *plan.Plan
	// Tables are the published tables, in the plan's order.
	Tables []synth.Table
	// Microdata are the drawn rows, in the plan's order.
	Microdata []synth.Microdata
	// Receipt is the ledger's public record of the debit, as JSON.
	Receipt json.RawMessage
	// Software is the program and its version, such as "dprelease 0.1.0".
	Software string
	// Modules are what the program was built from.
	Modules []Module
	// Approvals are the signatures in the ledger's entry of the debit.
	Approvals []Approval
}

// Report is what is said of a release. Its JSON form is report.json; field
// order is the order of the file.
type Report struct {
	Format      string      `json:"format"`
	Release     string      `json:"release"`
	Title       string      `json:"title"`
	Population  string      `json:"population"`
	Period      string      `json:"period,omitempty"`
	Contact     string      `json:"contact"`
	Date        string      `json:"date"` // of the debit, YYYY-MM-DD
	Status      Status      `json:"status"`
	Banner      string      `json:"banner,omitempty"` // to be shown on every page
	StatusText  string      `json:"status_text"`      // what the status means, in words
	Accuracy    Accuracy    `json:"accuracy"`
	Guarantee   Guarantee   `json:"guarantee"`
	Misuse      []string    `json:"must_not_be_used_for"`
	Budget      Budget      `json:"budget"`
	Tables      []Table     `json:"tables"`
	Maps        []Map       `json:"maps,omitempty"`
	Bounds      *Bounds     `json:"bounds,omitempty"` // where rows do not all count as one, or figures are of values
	Strategies  []Strategy  `json:"how_measured"`
	Microdata   []Microdata `json:"microdata,omitempty"`
	Bias        []Bias      `json:"bias,omitempty"` // apart from noise; absent in reports that older versions made
	Reading     []Note      `json:"how_to_read"`
	NotReading  []string    `json:"how_not_to_read,omitempty"` // absent there as well
	Plan        Plan        `json:"plan"`
	Certificate Certificate `json:"certificate"`
	Provenance  Provenance  `json:"provenance"`
	Checks      []string    `json:"how_to_check"`
	Spec        Spec        `json:"spec"`
}

// Note is a paragraph with its heading.
type Note struct {
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

// Plan is what was fixed before any confidential byte was read. Expectations
// are with each [Table].
type Plan struct {
	Choices  []string `json:"choices"`
	Warnings []string `json:"warnings"`
}

// Spec is the release spec as written.
type Spec struct {
	Name string `json:"name"` // base name of its file
	Text string `json:"text"`
}

// New makes the report of a release. It fails where the parts of the input are
// not of one release: another plan's receipt, or tables or microdata that are not
// the plan's.
func New(in Input) (*Report, error) {
	if in.Plan == nil {
		return nil, errors.New("report: there is no plan")
	}
	paid, err := readReceipt(in.Receipt, in.Plan)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	about := in.Plan.Release().About
	r := &Report{
		Format: Format, Release: in.Plan.Name, Title: in.Plan.Title,
		Population: about.Population, Period: about.Period, Contact: about.Contact,
		Date: paid.Date, Status: paid.Status, Banner: paid.Status.Banner(), StatusText: paid.Status.meaning(),
		Provenance: provenanceOf(in),
		Spec:       Spec{Name: in.Plan.Source.Name, Text: in.Plan.Source.Text},
	}
	from, err := sourcesOf(in.Plan)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Tables, err = tablesOf(in.Plan, from, in.Tables); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	addFitted(in.Plan, r.Tables, in.Tables)
	addSeries(in.Plan, r.Tables, in.Tables)
	nameZeros(r.Tables, in.Tables)
	r.Maps = mapsOf(in.Plan, r.Tables, in.Tables)
	r.Bounds = boundsOf(in.Plan, r.Tables)
	if r.Strategies, err = strategiesOf(in.Plan, r.Tables); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Microdata, err = microdataOf(in.Plan, in.Microdata); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Guarantee, err = guaranteeOf(in.Plan.Guarantee); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r.Guarantee.Sentences = append(r.Guarantee.Sentences, r.Bounds.boundsSentences(r.Guarantee.Protects)...)
	if given := publicSentence(in.Plan); given != "" {
		r.Guarantee.Sentences = append(r.Guarantee.Sentences, given)
	}
	if given := invariantSentence(in.Plan); given != "" {
		r.Guarantee.Sentences = append(r.Guarantee.Sentences, given)
	}
	if drawn := sampleSentence(in.Plan); drawn != "" {
		r.Guarantee.Sentences = append(r.Guarantee.Sentences, drawn)
	}
	if r.Budget, err = budgetOf(in.Plan, paid); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r.Accuracy = accuracyOf(r.Tables)
	r.Accuracy.ofSample(in.Plan)
	r.Misuse, r.NotReading = misuseOf(r), notReadOf(r)
	r.Bias = biasOf(r, in.Plan)
	r.Reading = readingOf(r, in.Plan, from)
	r.Plan = Plan{Choices: choicesOf(in.Plan, r), Warnings: append([]string{}, in.Plan.Warnings...)}
	r.Checks = checksOf(r, paid)
	if r.Certificate, err = certificateOf(in.Plan, r, from, paid, in.Approvals); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return r, nil
}

// JSON is the canonical report.json: indented, in declared field order, with a
// closing newline.
func (r *Report) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		panic("report: a report always encodes: " + err.Error())
	}
	return b.Bytes()
}

// Read decodes a report.json. It fails on bytes that are not a canonical report
// of this format, so that Read(b) without error means r.JSON() equals b.
func Read(b []byte) (*Report, error) {
	var r Report
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("not a report this version can read: %w", err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("the report's format is %q, expected %q: read it with the version that made it", r.Format, Format)
	}
	if !r.Status.known() {
		return nil, fmt.Errorf("the report's status is %q, expected %q, %q or %q", r.Status, Official, Practice, Rehearsal)
	}
	if !bytes.Equal(r.JSON(), b) {
		return nil, errors.New("the report was edited after it was made (it is not in canonical form): take it from the release again")
	}
	if err := r.formed(); err != nil {
		return nil, fmt.Errorf("not a report that this program makes: %w", err)
	}
	return &r, nil
}
