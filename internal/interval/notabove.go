package interval

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan"
)

// Threshold is the law of a cell of a sparse table that is not published: its noisy count is not above the threshold.
// The interval is one-sided, from 0 on.
const Threshold Law = "threshold"

// NotAbove is what is known about a cell that a sparse table does not publish.
type NotAbove struct {
	Threshold int64 `json:"threshold"`
	Bound     int64 `json:"bound"` // greatest number of rows, at the confidence
}

// NewNotAbove returns what is known about every cell that the table does not publish, and the probability that a cell
// with more rows would be published.
func NewNotAbove(t plan.Table, m plan.Measurement) (n *NotAbove, attained float64) {
	return &NotAbove{t.Sparse.Above, t.Sparse.Bound}, 1 - m.Mechanism.Above(t.Sparse.Bound-t.Sparse.Above)
}

// Text describes what is known about the cell.
func (n *NotAbove) Text(confidence, attained float64) string {
	return fmt.Sprintf("not above %s\n%g%% bound      0 … %s (a cell of more rows is published with a chance of %s "+
		"or more)\n\nThe cell has a noisy count like any other; it is not published, as it is not above the "+
		"threshold. It need not be empty.\n",
		budget.Group(n.Threshold), 100*confidence, budget.Group(n.Bound), screen.PercentDown(attained))
}
