package spec

import (
	"strings"
	"testing"
)

// TestTotalReleasesHaveNoModels: how many combinations of categories have rows decides whether a run has the memory for
// a model, and a run that stops says something of them.
func TestTotalReleasesHaveNoModels(t *testing.T) {
	text := `version: 1
release: r
privacy: {protects: person, neighbours: add-remove, total: true}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {sex: {values: [f, m], unknown: drop, null: drop}, ill: {values: [no, yes], unknown: drop, null: drop}}}}
models: {risk: {predict: {ill: "yes"}, by: [sex]}}
`
	_, err := Parse(Source{Name: "release.yaml", Text: text})
	if err == nil || !strings.Contains(err.Error(), "privacy is total, yet how many combinations") {
		t.Errorf("a total release with a model: %v", err)
	}
	if _, err := Parse(Source{Name: "release.yaml", Text: strings.Replace(text, ", total: true", "", 1)}); err != nil {
		t.Errorf("the same release without `total`: %v", err)
	}
}
