package spec

// This file rewrites a spec with another budget, to find out what that would buy.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"gopkg.in/yaml.v3"
)

// WithBudget returns the release with another amount of its budget, as if the spec had been written with it. key is
// epsilon, delta or rho, as the budget has it. It returns the errors of Parse, and an error for a key that the budget
// does not have.
func (r *Release) WithBudget(key, amount string) (*Release, error) {
	var text yaml.Node
	if err := yaml.Unmarshal([]byte(r.Source.Text), &text); err != nil || len(text.Content) != 1 {
		return nil, fmt.Errorf("the spec cannot be read again: %w", err)
	}
	at := document.Node{Value: text.Content[0]}.Get("budget").Get(key).Value
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
	changed, err := Parse(source)
	if err != nil {
		return nil, err
	}
	return changed.WithWords(r.Words)
}
