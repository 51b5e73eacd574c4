package spec

// This file checks the Unicode form of names: two texts that look the same must be the same name, and the same file.

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"golang.org/x/text/unicode/norm"
)

// checkComposed reports names introduced by the spec that are not in Unicode's composed form (NFC). Categories are
// exempt: they are texts of the data.
func (r *reader) checkComposed(root document.Node) {
	for _, table := range root.Get("tables").Pairs() {
		r.requireComposed(table.KeyNode())
		for _, join := range table.Get("join").Pairs() {
			r.requireComposed(join.KeyNode())
		}
		for _, column := range table.Get("columns").Pairs() {
			r.requireComposed(column.KeyNode())
			for _, level := range column.Get("levels").Pairs() {
				r.requireComposed(level.KeyNode())
			}
		}
	}
	for _, marginal := range root.Get("marginals").Pairs() {
		for _, stat := range marginal.Get("stats").Items() {
			r.requireComposed(stat.Get("as"))
		}
	}
	for _, table := range root.Get("synthetic").Pairs() {
		r.requireComposed(table.Get("size"))
	}
}

// requireComposed reports a name that is not in composed form.
func (r *reader) requireComposed(n document.Node) {
	name := n.Text()
	if norm.NFC.IsNormalString(name) {
		return
	}
	r.Report(n.Value, n.Path, document.Problem{
		Message:  fmt.Sprintf("%q is not in composed form (Unicode NFC)", document.Clip(name)),
		Expected: "each letter with its accents as one character where there is one",
		Fix:      r.RepairedLine(n.Value, norm.NFC.String(name)),
	})
}
