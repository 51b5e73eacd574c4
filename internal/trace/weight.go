package trace

// This file holds what a trace says about weights.

// weightText says that rows count by their weights, "" if each counts as one.
func (t *Trace) weightText() string {
	if !t.Weighted {
		return ""
	}
	return "Rows count by their weights.\n"
}
