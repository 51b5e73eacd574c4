package page

// This file explains the classes of precision.

import "strings"

// FitText says what the classes mean, "" if there are none.
func (r View) FitText() string {
	columns := r.FitColumns()
	if columns == nil {
		return ""
	}
	var classes []string
	for _, c := range columns[:len(columns)-1] {
		classes = append(classes, c.Name+" "+c.Bound)
	}
	return r.In().Text("The office sorts figures by their relative standard error, the standard error beside a figure divided by the figure: %s; %s is the rest, every count of zero or below among it. Which class a cell is in was worked out from its noisy figure, so a cell close to a bound may be on the wrong side of it.",
		strings.Join(classes, ", "), columns[len(columns)-1].Name) + " " + r.errorHolds()
}
