package shape

import (
	"regexp"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
	"gopkg.in/yaml.v3"
)

// This file holds what remains of a document without what only people read.

// WithoutWords returns a copy of a document of a shape without comments, layout and the values of fields of
// [Field.Words]. Documents that differ in these alone are written alike; whether a text is in quotes makes a
// difference.
func WithoutWords(s *Shape, n *yaml.Node) *yaml.Node {
	s = s.chosen(n)
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Style&quoted != 0 || isText(n) && !plainText.MatchString(n.Value) {
			out.Style, out.Tag = yaml.DoubleQuotedStyle, "!!str"
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			out.Content = append(out.Content, WithoutWords(s.element(), item))
		}
	case yaml.MappingNode:
		for pair := range slices.Chunk(n.Content, 2) {
			key, value := pair[0], pair[1]
			field, of := s.fieldByName(key.Value)
			if field.Words {
				continue
			}
			out.Content = append(out.Content, WithoutWords(nil, key), WithoutWords(of, value))
		}
	}
	if n.Kind != yaml.ScalarNode && !slices.ContainsFunc(out.Content, isCollection) {
		out.Style = yaml.FlowStyle
	}
	return out
}

// quoted are the styles of texts that YAML reads as texts whatever they say.
const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// plainText matches texts that are written without quotes: no character of them means anything to YAML, in brackets
// either.
var plainText = regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_ .%+/–-]*$`)

// isText reports whether a scalar outside quotes is a text: no number, and neither true, false nor null.
func isText(n *yaml.Node) bool {
	return n.Tag == "!!str" || n.Tag == "!!timestamp" || n.Tag == "!!merge"
}

// isCollection reports whether a node is a list or a mapping with entries.
func isCollection(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode && len(n.Content) > 0 }

// chosen returns the branch of a choice that a node takes, and any other shape itself; nil if there is none.
func (s *Shape) chosen(n *yaml.Node) *Shape {
	for s != nil && s.kind == choice {
		at := slices.IndexFunc(s.When, func(b Branch) bool { return b.Guard.matches(document.Node{Value: n}) })
		if at < 0 {
			return nil
		}
		s = s.When[at].Then
	}
	return s
}

// element returns the shape of the items of a list, nil for any other shape.
func (s *Shape) element() *Shape {
	if s == nil || s.kind != list {
		return nil
	}
	return s.Element
}

// fieldByName returns the field of an object with a key, and the shape of the value that a mapping of the shape has
// there: nil if it says nothing of it.
func (s *Shape) fieldByName(key string) (field Field, value *Shape) {
	switch {
	case s == nil:
	case s.kind == object:
		field, _ = s.fieldByKey(key)
		value = field.Shape
	case s.kind == dictionary:
		value = s.Element
	}
	return field, value
}
