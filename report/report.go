package report

// This file holds the report: the value that every page is rendered from.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/spec/language"
)

// Format names the layout of report.json.
const Format = "dprelease.report/1"

// Report is everything that is said about a release. Its JSON form is report.json; the order of its fields is the order
// of the file.
type Report struct {
	Format      string      `json:"format"`
	Release     string      `json:"release"`
	Title       string      `json:"title"`
	Population  string      `json:"population"`
	Period      string      `json:"period,omitempty"`
	Contact     string      `json:"contact"`
	Language    string      `json:"language,omitempty"` // its tag (BCP 47); absent for English
	Date        string      `json:"date"`               // of the debit, YYYY-MM-DD
	Status      Status      `json:"status"`
	Banner      string      `json:"banner,omitempty"` // shown on every page
	StatusText  string      `json:"status_text"`      // the meaning of the status, in words
	Accuracy    Accuracy    `json:"accuracy"`
	Guarantee   Guarantee   `json:"guarantee"`
	Comparison  string      `json:"when_cells_differ,omitempty"` // absent in reports of older versions
	Misuse      []string    `json:"must_not_be_used_for"`
	Budget      Budget      `json:"budget"`
	Tables      []Table     `json:"tables"`
	Maps        []Map       `json:"maps,omitempty"`
	Collection  *Collection `json:"collection,omitempty"` // present if respondents' devices randomised the answers
	Bounds      *Bounds     `json:"bounds,omitempty"`     // present if not every row counts as one, or if figures use values
	Strategies  []Strategy  `json:"how_measured"`
	Microdata   []Microdata `json:"microdata,omitempty"`
	Models      []Model     `json:"models,omitempty"`
	Bias        []Bias      `json:"bias,omitempty"` // other than noise; absent in reports of older versions
	Reading     []Note      `json:"how_to_read"`
	NotReading  []string    `json:"how_not_to_read,omitempty"` // absent in the same reports
	Plan        Plan        `json:"plan"`
	Certificate Certificate `json:"certificate"`
	Provenance  Provenance  `json:"provenance"`
	Checks      []string    `json:"how_to_check"`
	Spec        Spec        `json:"spec"`
}

// In returns the language in which the report is written.
func (r *Report) In() *language.Language { return cmp.Or(language.Of(r.Language), language.English) }

// Plan is what was fixed before any confidential byte was read. Expectations are in each [Table].
type Plan struct {
	Choices  []string `json:"choices"`
	Warnings []string `json:"warnings"`
}

// Spec is the release spec, without comments, titles and labels.
type Spec struct {
	Name string `json:"name,omitempty"` // of its file, in reports of older versions
	Text string `json:"text"`
}

// JSON returns the canonical report.json: indented, in declared field order, with a final newline.
func (r *Report) JSON() []byte { return canonical.Must(canonical.Indented(r)) }

// Read decodes a report.json. It returns an error if the bytes are not a canonical report of this format, so that
// r.JSON() equals b if Read(b) succeeds.
func Read(b []byte) (*Report, error) {
	var r Report
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("not a report this version can read: %w", err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("the report's format is %q, expected %q: read it with the version that made it",
			r.Format,
			Format)
	}
	if language.Of(r.Language) == nil {
		return nil, fmt.Errorf("the report's language is %q, expected one of %s", r.Language,
			strings.Join(language.Tags(), ", "))
	}
	if !r.Status.Known() {
		return nil, fmt.Errorf("the report's status is %q, expected %q, %q or %q", r.Status, Official, Practice,
			Rehearsal)
	}
	if !bytes.Equal(r.JSON(), b) {
		return nil,
			errors.New("the report was edited after it was made (it is not in canonical form): take it from the " +
				"release again")
	}
	if err := r.checkForm(); err != nil {
		return nil, fmt.Errorf("not a report that this program makes: %w", err)
	}
	return &r, nil
}
