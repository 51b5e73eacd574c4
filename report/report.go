package report

// This file holds the report: the value that every page is rendered from.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/internal/canonical"
)

// Format names the layout of report.json.
const Format = "dprelease.report/1"

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

// JSON is the canonical report.json: indented, in declared field order, with a
// closing newline.
func (r *Report) JSON() []byte { return canonical.Must(canonical.Indented(r)) }

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
		return nil, fmt.Errorf("the report's format is %q, expected %q: read it with the version that made it", r.Format,
			Format)
	}
	if !r.Status.Known() {
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
