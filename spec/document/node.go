package document

// This file holds the node: a place in the YAML tree with the path of keys that leads to it.

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Node is a value of the document, the key it stands under (nil for the root and for items
// of lists) and its path.
type Node struct {
	Value, Key *yaml.Node
	Path       string
}

// IsNull reports whether the value is empty, or an unquoted ~ or null.
func (n Node) IsNull() bool { return n.Value.Kind == yaml.ScalarNode && n.Value.Tag == "!!null" }

// IsText reports whether the value is a scalar that YAML reads as text (a date is text).
func (n Node) IsText() bool {
	return n.Value.Kind == yaml.ScalarNode && (n.Value.Tag == "!!str" || n.Value.Tag == "!!timestamp")
}

// IsQuoted reports whether the value is a text in quotes.
func (n Node) IsQuoted() bool {
	return n.Value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
}

// IsNumber reports whether the value is a scalar that YAML reads as a number.
func (n Node) IsNumber() bool {
	return n.Value.Kind == yaml.ScalarNode && (n.Value.Tag == "!!int" || n.Value.Tag == "!!float")
}

// Text is the scalar as written, "" where it is not there.
func (n Node) Text() string { return n.TextOr("") }

// TextOr is the scalar as written, or another text where it is not there.
func (n Node) TextOr(other string) string {
	if !n.Present() {
		return other
	}
	return n.Value.Value
}

// Present reports whether there is a value: there is none in the zero node, which Get returns for a key that is not
// there.
func (n Node) Present() bool { return n.Value != nil }

// Position is where a problem with the value is shown: the value where it has text of its
// own, else its key.
func (n Node) Position() *yaml.Node {
	if n.Key != nil && (n.IsNull() && n.Value.Value == "" || n.Value.Line == 0) {
		return n.Key
	}
	return n.Value
}

// Heading is where a problem with the whole of a value is shown: its key.
func (n Node) Heading() *yaml.Node {
	if n.Key != nil {
		return n.Key
	}
	return n.Value
}

// Pairs are the entries of a mapping, in document order.
func (n Node) Pairs() []Node {
	if n.entries() == 0 {
		return nil
	}
	all := make([]Node, n.entries())
	for i := range all {
		all[i] = n.pair(i)
	}
	return all
}

// entries is how many entries a mapping has; 0 where it is none.
func (n Node) entries() int {
	if !n.Present() || n.Value.Kind != yaml.MappingNode {
		return 0
	}
	return len(n.Value.Content) / 2
}

// pair is the entry at a place of a mapping.
func (n Node) pair(i int) Node {
	key := n.Value.Content[2*i]
	return Node{Value: n.Value.Content[2*i+1], Key: key, Path: join(n.Path, key.Value)}
}

// Get is the value under a key, the zero node where there is none.
func (n Node) Get(key string) Node {
	for i := range n.entries() {
		if n.Value.Content[2*i].Value == key {
			return n.pair(i) // the paths of thousands of others are not written for it
		}
	}
	return Node{}
}

// Items are the items of a list.
func (n Node) Items() []Node {
	if !n.Present() || n.Value.Kind != yaml.SequenceNode {
		return nil
	}
	all := make([]Node, len(n.Value.Content))
	for i, item := range n.Value.Content {
		all[i] = Node{Value: item, Path: n.Path + "[" + strconv.Itoa(i) + "]"}
	}
	return all
}

// ItemsOrSelf are the items of a list, or the value itself in place of a list.
func (n Node) ItemsOrSelf() []Node {
	if items := n.Items(); items != nil {
		return items
	}
	return []Node{n}
}

// Is reports whether the value is there, and written so.
func (n Node) Is(text string) bool { return n.Present() && n.Text() == text }

// Or returns the node, or another where it is not there.
func (n Node) Or(other Node) Node {
	if n.Present() {
		return n
	}
	return other
}

// AtKey is the key of the value, as a node of its own.
func (n Node) AtKey() Node { return Node{Value: n.Key, Path: n.Path} }

// Whole is the whole number that a scalar writes, which has the shape of one; 0 where it is not there.
func (n Node) Whole() int64 {
	x, _ := ParseNumber(n.TextOr("0"))
	return x.Num().Int64()
}

// IsTrue reports whether the scalar is written as YAML writes true.
func (n Node) IsTrue() bool { return n.Text() == "true" || n.Text() == "True" || n.Text() == "TRUE" }

// Texts are the scalars of a list, or the one scalar in place of a list.
func (n Node) Texts() []string {
	if n.Present() && n.Value.Kind == yaml.ScalarNode {
		return []string{n.Text()}
	}
	var all []string
	for _, item := range n.Items() {
		all = append(all, item.Text())
	}
	return all
}

// Found describes the value in words, for "expected …, found …".
func (n Node) Found() string {
	switch {
	case n.Value.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Value.Kind == yaml.SequenceNode:
		return "a list"
	case n.IsNull() && n.Text() == "":
		return "nothing"
	case n.IsNull():
		return "unquoted " + n.Text()
	case n.IsNumber():
		return "the number " + Clip(n.Text())
	case n.Value.Tag == "!!bool":
		return n.Text()
	}
	return fmt.Sprintf("%q", Clip(n.Text()))
}

// join appends a key to a path.
func join(path, key string) string {
	if key == "" {
		key = `""`
	}
	if path == "" {
		return Clip(key)
	}
	return path + "." + Clip(key)
}

// Clip shortens a text for a message.
func Clip(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return text
}
