package spec

// This file holds the shape: one declarative description of a part of the language. The
// checker reads documents by it and the JSON Schema is generated from it, so the two cannot
// drift apart.

import (
	"github.com/dprelease/dprelease/spec/document"
	"regexp"
)

// kind is the kind of a shape.
type kind int

const (
	anything   kind = iota
	object          // a mapping with fixed keys
	dictionary      // a mapping with free keys
	list            // a sequence
	text            // a scalar that YAML reads as text
	category        // any scalar but null, taken as its text
	number          // an exact number, or a text of the shape's pattern
	whole           // a whole number
	boolean         // true or false
	choice          // the first branch whose guard holds
)

// shape describes a part of the language.
type shape struct {
	kind    kind
	says    string // what is expected here, in words
	unbuilt string // the feature's name, where this version does not build it
	name    string // name in the schema's $defs, for shapes used again

	fields []field          // object
	forms  [][]string       // object: exactly one of these sets of keys is present
	keys   *regexp.Regexp   // dictionary: pattern of the keys
	of     *shape           // dictionary, list: the values
	least  int64            // dictionary, list: number of entries; whole: smallest value
	most   int64            // list: number of entries, 0 is no limit; whole: largest value
	empty  string           // dictionary, list: what to say where there are too few entries
	match  *regexp.Regexp   // text, number: pattern of the whole text
	oneOf  []string         // text: the texts allowed
	params bool             // text: parameters are filled in
	when   []branch         // choice
	habits map[string]habit // object: keys of other programs, in lower case
	// instead says what to write in place of a text, and the fix; "" where it does not know.
	instead func(text string) (expected, fix string)
}

// field is a key of an object.
type field struct {
	key   string
	shape *shape
	// required says why the key must be there, "" where it may be left out.
	required string
	// fix is text to paste where a required key is missing.
	fix string
	// needs is another key without which this one means nothing.
	needs string
}

// branch is one alternative of a choice.
type branch struct {
	guard guard
	then  *shape
}

// guard tells alternatives apart by what is seen first: the kind of node, the presence of a
// key, or the text of a scalar. All conditions that are set must hold.
type guard struct {
	node  nodeKind
	keys  []string // a mapping with any of these keys
	match *regexp.Regexp
}

// nodeKind is the kind of a YAML node.
type nodeKind int

const (
	scalarNode nodeKind = iota
	mappingNode
	sequenceNode
)

func textShape(says string) *shape     { return &shape{kind: text, says: says} }
func categoryShape(says string) *shape { return &shape{kind: category, says: says} }

var plainNumber = regexp.MustCompile(`^` + document.NumberSyntax + `$`)

func numberShape(says string) *shape {
	return &shape{kind: number, says: says, match: plainNumber}
}

// numberOrShape is a number, or a text of the pattern.
func numberOrShape(says, pattern string) *shape {
	return &shape{kind: number, says: says, match: regexp.MustCompile(pattern)}
}

func booleanShape(says string) *shape  { return &shape{kind: boolean, says: says} }
func anythingShape(says string) *shape { return &shape{kind: anything, says: says} }

func enumShape(says string, options ...string) *shape {
	return &shape{kind: text, says: says, oneOf: options}
}

func patternShape(says, pattern string) *shape {
	return &shape{kind: text, says: says, match: regexp.MustCompile(pattern)}
}

func wholeShape(says string, least, most int64) *shape {
	return &shape{kind: whole, says: says, least: least, most: most}
}

func listShape(says string, of *shape, least, most int64) *shape {
	return &shape{kind: list, says: says, of: of, least: least, most: most}
}

func dictShape(says, keys string, of *shape) *shape {
	return &shape{kind: dictionary, says: says, keys: regexp.MustCompile(keys), of: of}
}

func objectShape(says string, fields ...field) *shape {
	return &shape{kind: object, says: says, fields: fields}
}

func choiceShape(says string, branches ...branch) *shape {
	return &shape{kind: choice, says: says, when: branches}
}

func onScalar(then *shape) branch   { return branch{guard{node: scalarNode}, then} }
func onMapping(then *shape) branch  { return branch{guard{node: mappingNode}, then} }
func onSequence(then *shape) branch { return branch{guard{node: sequenceNode}, then} }

func onKey(then *shape, keys ...string) branch {
	return branch{guard{node: mappingNode, keys: keys}, then}
}

func onText(pattern string, then *shape) branch {
	return branch{guard{node: scalarNode, match: regexp.MustCompile(pattern)}, then}
}

// withForms says that exactly one of the sets of keys is present.
func (s *shape) withForms(forms ...[]string) *shape {
	s.forms = forms
	return s
}

// withParams says that parameters are filled in.
func (s *shape) withParams() *shape {
	s.params = true
	return s
}

// named puts the shape under that name in the schema's $defs.
func (s *shape) named(name string) *shape {
	s.name = name
	return s
}

// notBuilt marks a copy of the shape as a feature that this version does not build.
func (s *shape) notBuilt(feature string) *shape {
	marked := *s
	marked.unbuilt = feature
	marked.name = ""
	return &marked
}

// field returns the field of that key.
func (s *shape) field(key string) (field, bool) {
	for _, f := range s.fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

// keyNames are the keys of an object.
func (s *shape) keyNames() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.key
	}
	return names
}

// builtKeys are the keys of an object that this version builds, in their order.
func (s *shape) builtKeys() []string {
	var names []string
	for _, f := range s.fields {
		if f.shape.unbuilt == "" {
			names = append(names, f.key)
		}
	}
	return names
}

// governed are the keys that the forms of an object speak of, in order of appearance.
func (s *shape) governed() []string {
	var names []string
	seen := map[string]bool{}
	for _, form := range s.forms {
		for _, key := range form {
			if !seen[key] {
				seen[key] = true
				names = append(names, key)
			}
		}
	}
	return names
}
