package spec

// This file holds the form of names beyond ASCII: two texts that look the same must be one name, and one file.

import (
	"fmt"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"
)

// checkComposed reports names of the spec's own that are not in Unicode's composed form (NFC). Categories are not names: they are
// texts of the data.
func (r *reader) checkComposed(root node) {
	for _, table := range root.get("tables").pairs() {
		r.composed(table.key, table.path)
		for _, join := range table.get("join").pairs() {
			r.composed(join.key, join.path)
		}
		for _, column := range table.get("columns").pairs() {
			r.composed(column.key, column.path)
			for _, level := range column.get("levels").pairs() {
				r.composed(level.key, level.path)
			}
		}
	}
	for _, marginal := range root.get("marginals").pairs() {
		for _, stat := range marginal.get("stats").items() {
			if as := stat.get("as"); as.present() {
				r.composed(as.value, as.path)
			}
		}
	}
	for _, table := range root.get("synthetic").pairs() {
		if size := table.get("size"); size.present() {
			r.composed(size.value, size.path)
		}
	}
}

func (r *reader) composed(name *yaml.Node, path string) {
	if norm.NFC.IsNormalString(name.Value) {
		return
	}
	r.report(name, path, Problem{
		Message:  fmt.Sprintf("%q is not in composed form (Unicode NFC)", clip(name.Value)),
		Expected: "each letter with its accents as one character where there is one",
		Fix:      r.mended(name, norm.NFC.String(name.Value)),
	})
}
