package spec

// This file holds the node: a place in the YAML tree with the path of keys that leads to it.

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"
)

// node is a value of the document, the key it stands under (nil for the root and for items
// of lists) and its path.
type node struct {
	value, key *yaml.Node
	path       string
}

// isNull is true for an empty value and for an unquoted ~ or null.
func (n node) isNull() bool { return n.value.Kind == yaml.ScalarNode && n.value.Tag == "!!null" }

// isText is true for a scalar that YAML reads as text (a date is text).
func (n node) isText() bool {
	return n.value.Kind == yaml.ScalarNode && (n.value.Tag == "!!str" || n.value.Tag == "!!timestamp")
}

// isQuoted is true for a text in quotes.
func (n node) isQuoted() bool {
	return n.value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
}

// isNumber is true for a scalar that YAML reads as a number.
func (n node) isNumber() bool {
	return n.value.Kind == yaml.ScalarNode && (n.value.Tag == "!!int" || n.value.Tag == "!!float")
}

// text is the scalar as written.
func (n node) text() string { return n.value.Value }

// present is false for the zero node, which get returns for a key that is not there.
func (n node) present() bool { return n.value != nil }

// position is where a problem with the value is shown: the value where it has text of its
// own, else its key.
func (n node) position() *yaml.Node {
	if n.key != nil && (n.isNull() && n.value.Value == "" || n.value.Line == 0) {
		return n.key
	}
	return n.value
}

// heading is where a problem with the whole of a value is shown: its key.
func (n node) heading() *yaml.Node {
	if n.key != nil {
		return n.key
	}
	return n.value
}

// pairs are the entries of a mapping, in document order.
func (n node) pairs() []node {
	if !n.present() || n.value.Kind != yaml.MappingNode {
		return nil
	}
	all := make([]node, 0, len(n.value.Content)/2)
	for i := 0; i+1 < len(n.value.Content); i += 2 {
		key := n.value.Content[i]
		all = append(all, node{value: n.value.Content[i+1], key: key, path: join(n.path, key.Value)})
	}
	return all
}

// get is the value under a key, the zero node where there is none.
func (n node) get(key string) node {
	for _, pair := range n.pairs() {
		if pair.key.Value == key {
			return pair
		}
	}
	return node{}
}

// items are the items of a list.
func (n node) items() []node {
	if !n.present() || n.value.Kind != yaml.SequenceNode {
		return nil
	}
	all := make([]node, len(n.value.Content))
	for i, item := range n.value.Content {
		all[i] = node{value: item, path: n.path + "[" + strconv.Itoa(i) + "]"}
	}
	return all
}

// texts are the scalars of a list, or the one scalar in place of a list.
func (n node) texts() []string {
	if n.present() && n.value.Kind == yaml.ScalarNode {
		return []string{n.text()}
	}
	var all []string
	for _, item := range n.items() {
		all = append(all, item.text())
	}
	return all
}

// found describes the value in words, for "expected …, found …".
func (n node) found() string {
	switch {
	case n.value.Kind == yaml.MappingNode:
		return "a mapping"
	case n.value.Kind == yaml.SequenceNode:
		return "a list"
	case n.isNull() && n.text() == "":
		return "nothing"
	case n.isNull():
		return "unquoted " + n.text()
	case n.isNumber():
		return "the number " + clip(n.text())
	case n.value.Tag == "!!bool":
		return n.text()
	}
	return fmt.Sprintf("%q", clip(n.text()))
}

// join appends a key to a path.
func join(path, key string) string {
	if key == "" {
		key = `""`
	}
	if path == "" {
		return clip(key)
	}
	return path + "." + clip(key)
}

// clip shortens a text for a message.
func clip(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return text
}
