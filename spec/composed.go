package spec

// This file holds the form of names beyond ASCII: two texts that look the same must be one name, and one file.

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"golang.org/x/text/unicode/norm"
)

// checkComposed reports names of the spec's own that are not in Unicode's composed form (NFC). Categories are not
// names: they are texts of the data.
func (r *reader) checkComposed(root document.Node) {
	for _, table := range root.Get("tables").Pairs() {
		r.composed(table.AtKey())
		for _, join := range table.Get("join").Pairs() {
			r.composed(join.AtKey())
		}
		for _, column := range table.Get("columns").Pairs() {
			r.composed(column.AtKey())
			for _, level := range column.Get("levels").Pairs() {
				r.composed(level.AtKey())
			}
		}
	}
	for _, marginal := range root.Get("marginals").Pairs() {
		for _, stat := range marginal.Get("stats").Items() {
			r.composed(stat.Get("as"))
		}
	}
	for _, table := range root.Get("synthetic").Pairs() {
		r.composed(table.Get("size"))
	}
}

// composed reports a name that is not in composed form.
func (r *reader) composed(n document.Node) {
	name := n.Text()
	if norm.NFC.IsNormalString(name) {
		return
	}
	r.Report(n.Value, n.Path, document.Problem{
		Message:  fmt.Sprintf("%q is not in composed form (Unicode NFC)", document.Clip(name)),
		Expected: "each letter with its accents as one character where there is one",
		Fix:      r.Mended(n.Value, norm.NFC.String(name)),
	})
}
