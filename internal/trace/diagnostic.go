package trace

// This file holds what a trace says of a table of what is left out.

// leftOutText says what is counted in place of rows, "" where rows are.
func (t *Trace) leftOutText() string {
	if t.Counts == "" {
		return ""
	}
	return "Counted are " + t.Counts + ".\n"
}
