package maker

// This file describes the provenance of a release and how anyone can check it.

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

func provenanceOf(in Input) report.Provenance {
	p := in.Plan
	out := report.Provenance{
		PlanHash: p.Hash(), SpecHash: hashOf(p.Source.Text), Software: in.Software,
		CodeBooks: []report.CodeBook{}, Params: []report.Param{}, Modules: append([]report.Module{}, in.Modules...),
	}
	if len(in.Microdata) > 0 {
		out.Microdata = languageOf(p.Plan()).Text("They are made from the measurements alone. Fitting the model " +
			"involves no random numbers. Its rows are drawn with numbers derived from the SHA-256 of measurements, " +
			"plan and purpose, so anybody who draws them again gets the same rows.")
	}
	joined, books := map[string]bool{}, map[string]bool{}
	for _, t := range p.Release().Tables {
		if t.Where != nil {
			out.Rows = append(out.Rows, report.Rows{Table: t.Name, Where: strings.TrimSpace(t.Where.Expression.Text())})
		}
		for _, j := range t.Joins {
			joined[j.File] = true
			out.Public = append(out.Public, report.PublicTable{Table: t.Name, Name: j.Name, Path: j.File, On: j.On,
				Rows: j.Rows,
				Hash: hashOf(p.Source.Files[j.File])})
		}
		for _, c := range t.Columns {
			books[c.Codebook] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.Source.Files)) {
		if joined[path] && !books[path] {
			continue
		}
		out.CodeBooks = append(out.CodeBooks, report.CodeBook{Path: path, Hash: hashOf(p.Source.Files[path])})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Source.Params)) {
		out.Params = append(out.Params, report.Param{Name: name, Value: p.Source.Params[name]})
	}
	return out
}

func hashOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// checksOf says how to check a release without trusting this report, and what nobody can check who trusts the ledger
// behind a receipt.
func checksOf(r *report.Report) []string {
	l := r.In()
	checks := []string{
		words.Either(r.Contact != "",
			l.Text("To check this page you need the whole folder that it came in (contact: %s).",
				words.OneRow(r.Contact)),
			l.Text("To check this page you need the whole folder that it came in: ask whoever gave you the page.")) +
			" " +
			l.Text("`dprelease verify FOLDER` derives every file again from plan and measurements, without the "+
				"confidential data, and adds up the privacy loss with separate code. It is part of %s.",
				r.Provenance.Software) +
			words.When(r.Status == report.Official, " "+keyAdvice(l, r.Budget.Receipt.Signed)) +
			" " + l.Text("Nobody outside can see that the noise was random, its key erased and the data true."),
		l.Text("By hand: every file must have the SHA-256 (a fingerprint of its content) that manifest.json gives "+
			"for it. `dprelease plan`, run on the spec, must make a plan.json with the SHA-256 `%s`",
			r.Provenance.PlanHash),
	}
	if len(r.Microdata) > 0 {
		checks = append(checks, words.Either(r.Adapts(),
			l.Text("For microdata, `dprelease verify` compares the rounds with the plan, and draws the rows again, "+
				"byte for byte."),
			l.Text("For microdata, `dprelease verify` draws the rows again, byte for byte.")))
	}
	paid := r.Budget.Receipt
	switch r.Status {
	case report.Rehearsal:
		return checks
	case report.Practice:
		return append(checks, l.Text("Ask whoever made this release to show debit %d of account %s in the ledger. "+
			"Its hash is `%s`.",
			paid.Number, paid.Account, paid.EntryHash))
	}
	return append(checks, l.Text("Ask the office to show debit %d of account %s in the ledger. Its hash is `%s`.",
		paid.Number, paid.Account, paid.EntryHash))
}

// keyAdvice says how a reader learns who measured a release, and that it was paid for: from the office's key if its
// ledger is signed, and otherwise from an export of the ledger.
func keyAdvice(l *language.Language, signed bool) string {
	return words.Either(signed,
		l.Text("Add `--trust office.pub`, the key that the office has published: without it the check establishes "+
			"neither who measured the figures nor whether they were paid for."),
		l.Text("The debit is not signed with a key of the office, so by itself the check establishes neither who "+
			"measured the figures nor whether they were paid for. Ask the office for an export of its ledger, and "+
			"add `--ledger-export FILE`: that has the debit, and the hash of these measurements."))
}
