package trace

// This file holds what a trace says about a table of what is left out.

// leftOutText says what is counted instead of rows, "" if rows are.
func (t *Trace) leftOutText() string {
	if t.Counts == "" {
		return ""
	}
	return "Counted are " + t.Counts + ".\n"
}
