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
		classes = append(classes, r.In().Text("“%s” is %s", c.Name, c.Bound))
	}
	return r.In().Text("The office sorts figures into classes by their relative standard error, which is the "+
		"standard error divided by the figure: %s, and “%s” is the rest, including every count of zero or below. The "+
		"class of a cell was computed from its noisy figure, so a cell close to a bound may be on the wrong side of it.",
		strings.Join(classes, ", "), columns[len(columns)-1].Name) + " " + r.errorHolds()
}
