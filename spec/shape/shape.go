package shape

// This file holds the shape: one declarative description of a part of the language. The
// checker reads documents by it and the JSON Schema is generated from it, so the two cannot
// drift apart.

import (
	"regexp"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
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

// Shape describes a part of the language.
type Shape struct {
	kind    kind
	Says    string // what is expected here, in words
	unbuilt string // the feature's name, where this version does not build it
	name    string // name in the schema's $defs, for shapes used again

	Fields []Field          // object
	forms  [][]string       // object: exactly one of these sets of keys is present
	Keys   *regexp.Regexp   // dictionary: pattern of the keys
	Of     *Shape           // dictionary, list: the values
	Least  int64            // dictionary, list: number of entries; whole: smallest value
	most   int64            // list: number of entries, 0 is no limit; whole: largest value
	Empty  string           // dictionary, list: what to say where there are too few entries
	match  *regexp.Regexp   // text, number: pattern of the whole text
	oneOf  []string         // text: the texts allowed
	params bool             // text: parameters are filled in
	When   []Branch         // choice
	Habits map[string]Habit // object: keys of other programs, in lower case
	// Instead says what to write in place of a text, and the fix; "" where it does not know.
	Instead func(text string) (expected, fix string)
}

// Field is a key of an object.
type Field struct {
	Key   string
	Shape *Shape
	// Required says why the key must be there, "" where it may be left out.
	Required string
	// Fix is text to paste where a required key is missing.
	Fix string
	// Needs is another key without which this one means nothing.
	Needs string
}

// Branch is one alternative of a choice.
type Branch struct {
	Guard Guard
	Then  *Shape
}

// Guard tells alternatives apart by what is seen first: the kind of node, the presence of a
// key, or the text of a scalar. All conditions that are set must hold.
type Guard struct {
	node  nodeKind
	Keys  []string // a mapping with any of these keys
	match *regexp.Regexp
}

// nodeKind is the kind of a YAML node.
type nodeKind int

const (
	scalarNode nodeKind = iota
	mappingNode
	sequenceNode
)

// Text is a text, as YAML reads it.
func Text(says string) *Shape { return &Shape{kind: text, Says: says} }

// Category is any scalar but null, taken as its text.
func Category(says string) *Shape { return &Shape{kind: category, Says: says} }

// Scalar is any scalar but null whose text matches the pattern.
func Scalar(says, pattern string) *Shape {
	return &Shape{kind: category, Says: says, match: regexp.MustCompile(pattern)}
}

var plainNumber = regexp.MustCompile(`^` + document.NumberSyntax + `$`)

// Number is an exact number, as [document.ParseNumber] reads it.
func Number(says string) *Shape {
	return &Shape{kind: number, Says: says, match: plainNumber}
}

// NumberOr is a number, or a text of the pattern.
func NumberOr(says, pattern string) *Shape {
	return &Shape{kind: number, Says: says, match: regexp.MustCompile(pattern)}
}

// Boolean is true or false.
func Boolean(says string) *Shape { return &Shape{kind: boolean, Says: says} }

// Anything is a value of any kind.
func Anything(says string) *Shape { return &Shape{kind: anything, Says: says} }

// Enum is a text that is one of the options.
func Enum(says string, options ...string) *Shape {
	return &Shape{kind: text, Says: says, oneOf: options}
}

// Pattern is a text that matches the pattern.
func Pattern(says, pattern string) *Shape {
	return &Shape{kind: text, Says: says, match: regexp.MustCompile(pattern)}
}

// Whole is a whole number within the bounds.
func Whole(says string, least, most int64) *Shape {
	return &Shape{kind: whole, Says: says, Least: least, most: most}
}

// List is a list of at least least entries and at most most of them, where most is not 0.
func List(says string, of *Shape, least, most int64) *Shape {
	return &Shape{kind: list, Says: says, Of: of, Least: least, most: most}
}

// Dictionary is a mapping whose keys match a pattern.
func Dictionary(says, keys string, of *Shape) *Shape {
	return &Shape{kind: dictionary, Says: says, Keys: regexp.MustCompile(keys), Of: of}
}

// Object is a mapping with the fields.
func Object(says string, fields ...Field) *Shape {
	return &Shape{kind: object, Says: says, Fields: fields}
}

// Choice is the first of the branches whose guard holds.
func Choice(says string, branches ...Branch) *Shape {
	return &Shape{kind: choice, Says: says, When: branches}
}

// OnScalar is the branch for any scalar.
func OnScalar(then *Shape) Branch { return Branch{Guard{node: scalarNode}, then} }

// OnMapping is the branch for a mapping.
func OnMapping(then *Shape) Branch { return Branch{Guard{node: mappingNode}, then} }

// OnSequence is the branch for a list.
func OnSequence(then *Shape) Branch { return Branch{Guard{node: sequenceNode}, then} }

// OnKey is the branch for a mapping with any of the keys.
func OnKey(then *Shape, keys ...string) Branch {
	return Branch{Guard{node: mappingNode, Keys: keys}, then}
}

// OnText is the branch for a text that matches the pattern.
func OnText(pattern string, then *Shape) Branch {
	return Branch{Guard{node: scalarNode, match: regexp.MustCompile(pattern)}, then}
}

// WithForms says that exactly one of the sets of keys is present.
func (s *Shape) WithForms(forms ...[]string) *Shape {
	s.forms = forms
	return s
}

// Nonempty says that there is at least one entry, and what to say where there is none.
func (s *Shape) Nonempty(says string) *Shape {
	s.Least, s.Empty = 1, says
	return s
}

// OrSay says what to say of an object that is in none of its forms, or of a list with too few entries.
func (s *Shape) OrSay(says string) *Shape {
	s.Empty = says
	return s
}

// WithHabits are the keys of other programs, in lower case.
func (s *Shape) WithHabits(habits map[string]Habit) *Shape {
	s.Habits = habits
	return s
}

// WithInstead says what to write in place of a text.
func (s *Shape) WithInstead(instead func(text string) (expected, fix string)) *Shape {
	s.Instead = instead
	return s
}

// WithParams says that parameters are filled in.
func (s *Shape) WithParams() *Shape {
	s.params = true
	return s
}

// Named puts the shape under that name in the schema's $defs.
func (s *Shape) Named(name string) *Shape {
	s.name = name
	return s
}

// NotBuilt marks a copy of the shape as a feature that this version does not build.
func (s *Shape) NotBuilt(feature string) *Shape {
	marked := *s
	marked.unbuilt = feature
	marked.name = ""
	return &marked
}

// field returns the field of that key.
func (s *Shape) field(key string) (Field, bool) {
	for _, f := range s.Fields {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// keyNames are the keys of an object.
func (s *Shape) keyNames() []string {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Key
	}
	return names
}

// builtKeys are the keys of an object that this version builds, in their order.
func (s *Shape) builtKeys() []string {
	var names []string
	for _, f := range s.Fields {
		if f.Shape.unbuilt == "" {
			names = append(names, f.Key)
		}
	}
	return names
}

// governed are the keys that the forms of an object speak of, in order of appearance.
func (s *Shape) governed() []string {
	var names []string
	for _, form := range s.forms {
		for _, key := range form {
			if !slices.Contains(names, key) {
				names = append(names, key)
			}
		}
	}
	return names
}
