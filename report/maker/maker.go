package maker

// This file makes a report, from its input to the certificate.

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// Input is everything that a report is made from.
type Input struct {
	Plan *compiled.Compiled
	// Tables are the published tables, in the plan's order.
	Tables []synth.Table
	// Microdata are the drawn rows, in the plan's order.
	Microdata []synth.Microdata
	// Models are the published models, in the spec's order.
	Models []Model
	// Receipt is the ledger's public record of the debit, as JSON.
	Receipt json.RawMessage
	// Software is the program and its version, such as "dprelease 0.1.0".
	Software string
	// Modules are the modules that the program was built from.
	Modules []report.Module
	// Approvals are the signatures in the ledger's entry of the debit.
	Approvals []report.Approval
}

// New makes the report of a release. It returns an error if the parts of the input belong to different releases:
// another plan's receipt, or tables or microdata of another plan.
func New(in Input) (*report.Report, error) {
	if in.Plan == nil {
		return nil, errors.New("report: there is no plan")
	}
	paid, err := readReceipt(in.Receipt, in.Plan)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	p := in.Plan.Plan()
	about, l := p.Release().About, languageOf(p)
	r := &report.Report{
		Format: report.Format, Release: in.Plan.Name, Title: about.Title,
		Population: about.Population, Period: about.Period, Contact: about.Contact, Language: about.Language,
		Date: paid.Date, Status: paid.Status, Banner: paid.Status.Banner(l),
		StatusText: statusText(l, paid.Status, p.Release().Collection != nil),
		Provenance: provenanceOf(in),
		Spec:       report.Spec{Text: in.Plan.Source.Text},
	}
	from, err := sourcesOf(in.Plan)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Tables, err = tablesOf(p, from, in.Tables); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	addFitted(p, r.Tables, in.Tables)
	addSeries(p, r.Tables, in.Tables)
	addZeroLabels(l, r.Tables, in.Tables)
	r.Maps = mapsOf(p, r.Tables, in.Tables)
	if r.Collection, err = collectionOf(p, in.Tables); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r.Bounds = boundsOf(p, r.Tables)
	if r.Strategies, err = strategiesOf(p, r.Tables); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Microdata, err = microdataOf(p, in.Microdata); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Models, err = modelsOf(p, in.Models); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Guarantee, err = notes.Guarantee(r.In(), p, r.Bounds); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Budget, err = budgetOf(p, paid); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r.Accuracy = notes.Accuracy(r.In(), p, r.Tables)
	r.Comparison, r.Misuse, r.NotReading = notes.Comparison(r), notes.Misuse(r), notes.NotReading(r)
	r.Bias = notes.Bias(r, p)
	r.Reading = notes.Reading(r, p, from.agree, from.inconsistent)
	r.Plan = report.Plan{Choices: notes.Choices(p, r), Warnings: append([]string{}, describe.Warnings(l, p)...)}
	r.Checks = checksOf(r)
	if r.Certificate, err = certificateOf(in.Plan, r, from, paid, in.Approvals); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return r, nil
}

// statusText says what a status means; collected says that respondents' devices have randomised the answers.
func statusText(l *language.Language, s report.Status, collected bool) string {
	switch s {
	case report.Practice:
		return l.Text("This is a trial run on the real data, which nobody has approved. To publish, run the spec on " +
			"an account of the office.")
	case report.Rehearsal:
		return l.Text("This was made from invented rows, drawn at random from the declared categories. It says " +
			"nothing about anybody, and its figures mean nothing.")
	}
	return words.Either(collected,
		l.Text("This is a release: what each respondent has lost is recorded on the account."),
		l.Text("This is a release: its cost was charged to the account before any noise was drawn."))
}
