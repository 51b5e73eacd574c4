// Package page renders a report for people: report.html, report.md, README.txt and the text of a terminal, and the
// what-if page of a plan.
//
// It reads nothing but the [report.Report] that it is given, or the prospects of a plan, and adds no figure of its own:
// what it shows is in report.json, which has it for programs. Equal reports give equal bytes. Every text of a spec is
// escaped.
package page

// This file holds a report as templates see it.

import "github.com/dprelease/dprelease/report"

// View is a report with the sentences that pages show beside its data.
type View struct{ *report.Report }
