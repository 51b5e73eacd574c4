package spec

import (
	"strings"
	"testing"
)

// A weight is kept exactly as written; a marginal without one has weight 1.
func TestWeightsAreExact(t *testing.T) {
	for text, want := range map[string]string{
		"": "1", "weight: 1": "1", "weight: 2": "2", "weight: 0.1": "1/10", "weight: 1/3": "1/3", "weight: 25%": "1/4",
		"weight: 1e-6": "1/1000000", "weight: 1e6": "1000000", "weight: 1000000": "1000000",
	} {
		src := baseSource()
		src.Text = strings.Replace(src.Text, "stats: [count]", text, 1)
		src.Text = strings.Replace(src.Text, ", }", "}", 1)
		r, err := Parse(src)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, m := range r.Marginals {
			expected := "1"
			if m.Name == "pairs" {
				expected = want
			}
			if got := m.Weight.RatString(); got != expected {
				t.Errorf("%q: marginal %s weighs %s, want %s", text, m.Name, got, expected)
			}
		}
	}
}
