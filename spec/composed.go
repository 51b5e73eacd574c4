package spec

// This file holds the form of names beyond ASCII: two texts that look the same must be one name, and one file.

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"
)

// checkComposed reports names of the spec's own that are not in Unicode's composed form (NFC). Categories are not
// names: they are texts of the data.
func (r *reader) checkComposed(root document.Node) {
	for _, table := range root.Get("tables").Pairs() {
		r.composed(table.Key, table.Path)
		for _, join := range table.Get("join").Pairs() {
			r.composed(join.Key, join.Path)
		}
		for _, column := range table.Get("columns").Pairs() {
			r.composed(column.Key, column.Path)
			for _, level := range column.Get("levels").Pairs() {
				r.composed(level.Key, level.Path)
			}
		}
	}
	for _, marginal := range root.Get("marginals").Pairs() {
		for _, stat := range marginal.Get("stats").Items() {
			if as := stat.Get("as"); as.Present() {
				r.composed(as.Value, as.Path)
			}
		}
	}
	for _, table := range root.Get("synthetic").Pairs() {
		if size := table.Get("size"); size.Present() {
			r.composed(size.Value, size.Path)
		}
	}
}

func (r *reader) composed(name *yaml.Node, path string) {
	if norm.NFC.IsNormalString(name.Value) {
		return
	}
	r.Report(name, path, document.Problem{
		Message:  fmt.Sprintf("%q is not in composed form (Unicode NFC)", document.Clip(name.Value)),
		Expected: "each letter with its accents as one character where there is one",
		Fix:      r.Mended(name, norm.NFC.String(name.Value)),
	})
}
