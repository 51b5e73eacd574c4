package document

// This file holds the node: a value in the YAML tree, with the path of keys that leads to it.

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Node is a value of the document, its key (nil for the root and for items of lists) and its path.
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

// Text returns the scalar as written, "" if it is absent.
func (n Node) Text() string { return n.TextOr("") }

// TextOr returns the scalar as written, or another text if it is absent.
func (n Node) TextOr(other string) string {
	if !n.Present() {
		return other
	}
	return n.Value.Value
}

// Present reports whether there is a value. The zero node, which Get returns for a key that is absent, has none.
func (n Node) Present() bool { return n.Value != nil }

// Position returns the node at which a problem with the value is shown: the value if it has text of its own, and
// otherwise its key.
func (n Node) Position() *yaml.Node {
	if n.Key != nil && (n.IsNull() && n.Value.Value == "" || n.Value.Line == 0) {
		return n.Key
	}
	return n.Value
}

// Heading returns the node at which a problem with the whole value is shown: its key.
func (n Node) Heading() *yaml.Node {
	if n.Key != nil {
		return n.Key
	}
	return n.Value
}

// Pairs returns the entries of a mapping, in document order.
func (n Node) Pairs() []Node {
	if n.entryCount() == 0 {
		return nil
	}
	all := make([]Node, n.entryCount())
	for i := range all {
		all[i] = n.entryAt(i)
	}
	return all
}

// entryCount returns the number of entries of a mapping, 0 for other values.
func (n Node) entryCount() int {
	if !n.Present() || n.Value.Kind != yaml.MappingNode {
		return 0
	}
	return len(n.Value.Content) / 2
}

// entryAt returns the entry at an index of a mapping.
func (n Node) entryAt(i int) Node {
	key := n.Value.Content[2*i]
	return Node{Value: n.Value.Content[2*i+1], Key: key, Path: joinPath(n.Path, key.Value)}
}

// Get returns the value under a key, the zero node if the key is absent.
func (n Node) Get(key string) Node {
	for i := range n.entryCount() {
		if n.Value.Content[2*i].Value == key {
			return n.entryAt(i) // avoids writing the paths of thousands of other entries
		}
	}
	return Node{}
}

// Items returns the items of a list.
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

// ItemsOrSelf returns the items of a list, or the value itself if it is not a list.
func (n Node) ItemsOrSelf() []Node {
	if items := n.Items(); items != nil {
		return items
	}
	return []Node{n}
}

// Is reports whether the value is present and written as text.
func (n Node) Is(text string) bool { return n.Present() && n.Text() == text }

// Or returns the node, or another if it is absent.
func (n Node) Or(other Node) Node {
	if n.Present() {
		return n
	}
	return other
}

// KeyNode returns the key of the value as a node of its own.
func (n Node) KeyNode() Node { return Node{Value: n.Key, Path: n.Path} }

// WholeNumber returns the whole number of a scalar that has the syntax of one; 0 if it is absent.
func (n Node) WholeNumber() int64 {
	x, _ := ParseNumber(n.TextOr("0"))
	return x.Num().Int64()
}

// IsTrue reports whether the scalar is a spelling of true in YAML.
func (n Node) IsTrue() bool { return n.Text() == "true" || n.Text() == "True" || n.Text() == "TRUE" }

// Texts returns the scalars of a list, or the only scalar in place of a list.
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

// Describe describes the value in words, for "expected …, found …".
func (n Node) Describe() string {
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

// joinPath appends a key to a path.
func joinPath(path, key string) string {
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
