package spec

// This file holds the spec with another budget, for those who ask what it would buy.

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// WithBudget is the release as its spec would be read with another amount of its budget,
// where key is epsilon, delta or rho as the budget has it. It fails as Parse does, and on
// a key that the budget does not have.
func (r *Release) WithBudget(key, amount string) (*Release, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(r.Source.Text), &document); err != nil || len(document.Content) != 1 {
		return nil, fmt.Errorf("the spec cannot be read again: %w", err)
	}
	at := entry(entry(document.Content[0], "budget"), key)
	if at == nil || at.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("the budget has no %s", key)
	}
	source := r.Source
	lines := strings.SplitAfter(source.Text, "\n")
	line := []rune(lines[at.Line-1])
	end := at.Column - 1 + len([]rune(at.Value))
	if at.Style != 0 || end > len(line) || string(line[at.Column-1:end]) != at.Value {
		return nil, fmt.Errorf("the %s of the budget is not written as a plain number", key)
	}
	lines[at.Line-1] = string(line[:at.Column-1]) + amount + string(line[end:])
	source.Text = strings.Join(lines, "")
	return Parse(source)
}

// entry is the value of a key of a mapping, nil where there is none.
func entry(mapping *yaml.Node, key string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}
