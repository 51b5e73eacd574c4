package workload

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the cells of tables that are exact zeros, as the spec rules them out.

// hasImpossible reports whether some cells are impossible.
func (t *Table) hasImpossible() bool { return t.Impossible > 0 }

// impossibleCells returns how many cells of a table are impossible. It returns a fault if all are.
func impossibleCells(l *impossible.Rules, t *Table) (int64, error) {
	mask, err := l.Mask(t.Query())
	if err != nil {
		return 0, err
	}
	n := mask.Count()
	if n == t.Cells {
		return 0, &Fault{"", fmt.Sprintf("`impossible` rules out every cell of table %s", t.Path),
			"a table with cells that can be, or another entry under `impossible`"}
	}
	return n, nil
}

// checkMasked returns a fault for a table with impossible cells that shows more than its count.
func (t *Table) checkMasked(r *spec.Release) error {
	if t.hasImpossible() && len(figuresOf(r, t)) > 0 {
		return &Fault{"", fmt.Sprintf("table %s has impossible cells, and statistics beside its count", t.Path),
			"`stats: [count]` here, and a marginal without what is impossible for the others"}
	}
	return nil
}
