// Package page renders a report for people.
//
// It owns the pages: report.html, report.md, README.txt and the text of a terminal, and the what-if page of a plan.
// Equal reports give equal bytes. Every text of a spec is escaped.
//
// It never adds a figure of its own: it reads only the [report.Report] that it is given, or the error forecasts of a
// plan. Everything that it shows is in report.json, for programs.
package page

// This file holds a report as templates see it.

import "github.com/dprelease/dprelease/report"

// View is a report with the sentences that pages show in addition to its data.
type View struct{ *report.Report }
