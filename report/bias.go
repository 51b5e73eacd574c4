package report

// This file holds bias: the causes that move figures away from the truth on average over the noise.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// Bias is one cause of bias, with the published tables and models that it affects.
type Bias struct {
	Cause     string   `json:"cause"`
	Tables    []string `json:"tables"` // paths, those of models last; none: every one
	Direction string   `json:"direction"`
	// Size says how large it is: known exactly, estimated by a noisy count, bounded by public numbers alone, or not
	// known.
	Size string `json:"size"`
	// Noisy is the count that estimates it, Margin the margin of that count; absent if none was paid for.
	Noisy  *float64 `json:"noisy_count,omitempty"`
	Margin *float64 `json:"margin,omitempty"`
}

// AffectedTables names the first few of the affected tables and all affected models, or says "all".
func (b Bias) AffectedTables(l *language.Language) string {
	models := slices.IndexFunc(b.Tables, func(path string) bool { return strings.HasPrefix(path, "models/") })
	if models < 0 {
		return cmp.Or(l.FirstFew(b.Tables), l.Text("all"))
	}
	return strings.Join(append(words.NonEmpty(l.FirstFew(b.Tables[:models])), b.Tables[models:]...), ", ")
}
