package shape

// This file holds the shape: one declarative description of a part of the language. Documents are checked against it
// and the JSON Schema is generated from it, so that the two cannot drift apart.

import (
	"regexp"
	"slices"
	"sync"

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
	choice          // the first branch whose guard matches
)

// expression is a regular expression that is compiled when a text is first matched: a spec meets few of a language's.
type expression struct {
	text     string
	compiled func() *regexp.Regexp
}

func newExpression(text string) *expression {
	return &expression{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString reports whether a text matches.
func (e *expression) MatchString(text string) bool { return e.compiled().MatchString(text) }

// Shape describes a part of the language.
type Shape struct {
	kind    kind
	Says    string // what is expected here, in words
	unbuilt string // the name of the feature, if this version does not build it
	name    string // the name in the schema's $defs, for shapes that are used more than once

	Fields       []Field                // object
	forms        [][]string             // object: exactly one of these sets of keys must be present
	Keys         *expression            // dictionary: pattern of the keys
	Element      *Shape                 // dictionary, list: the values
	Least        int64                  // dictionary, list: least number of entries; whole: least value
	most         int64                  // list: greatest number of entries, 0 for no limit; whole: greatest value
	Empty        string                 // dictionary, list: the message if there are too few entries
	match        *expression            // text, number: pattern of the whole text
	oneOf        []string               // text: the allowed texts
	params       bool                   // text: parameters are filled in
	When         []Branch               // choice
	Replacements map[string]Replacement // object: keys of other programs, in lower case
	// ReplacementFor says what to write in place of a text, and the fix; "" if it does not know.
	ReplacementFor func(text string) (expected, fix string)
}

// Field is a key of an object.
type Field struct {
	Key   string
	Shape *Shape
	// Required says why the key must be there; "" if it is optional.
	Required string
	// Fix is text to paste where a required key is missing.
	Fix string
	// Instead is another key in whose presence a required key must not be there; "" for none.
	Instead string
	// Requires is another key that this one requires.
	Requires string
	// Words reports that the value is read by people and decides nothing; [WithoutWords] leaves it out.
	Words bool
}

// Branch is one alternative of a choice.
type Branch struct {
	Guard Guard
	Then  *Shape
}

// Guard distinguishes alternatives by what is seen first: the kind of node, the presence of a key, or the text of a
// scalar. All conditions that are set must hold.
type Guard struct {
	node  nodeKind
	Keys  []string // a mapping with any of these keys
	match *expression
}

// nodeKind is the kind of a YAML node.
type nodeKind int

const (
	scalarNode nodeKind = iota
	mappingNode
	sequenceNode
)

// Text returns the shape of a text, as YAML reads it.
func Text(says string) *Shape { return &Shape{kind: text, Says: says} }

// Category returns the shape of any scalar but null, taken as its text.
func Category(says string) *Shape { return &Shape{kind: category, Says: says} }

// Scalar returns the shape of any scalar but null whose text matches the pattern.
func Scalar(says, pattern string) *Shape {
	return &Shape{kind: category, Says: says, match: newExpression(pattern)}
}

var plainNumber = newExpression(`^` + document.NumberSyntax + `$`)

// Number returns the shape of an exact number, as [document.ParseNumber] reads it.
func Number(says string) *Shape {
	return &Shape{kind: number, Says: says, match: plainNumber}
}

// NumberOr returns the shape of a number or a text, both matched by the pattern.
func NumberOr(says, pattern string) *Shape {
	return &Shape{kind: number, Says: says, match: newExpression(pattern)}
}

// Boolean returns the shape of true or false.
func Boolean(says string) *Shape { return &Shape{kind: boolean, Says: says} }

// Enum returns the shape of a text that is one of the options.
func Enum(says string, options ...string) *Shape {
	return &Shape{kind: text, Says: says, oneOf: options}
}

// Pattern returns the shape of a text that matches the pattern.
func Pattern(says, pattern string) *Shape {
	return &Shape{kind: text, Says: says, match: newExpression(pattern)}
}

// Whole returns the shape of a whole number within the bounds.
func Whole(says string, least, most int64) *Shape {
	return &Shape{kind: whole, Says: says, Least: least, most: most}
}

// List returns the shape of a list with least to most entries; most 0 sets no limit.
func List(says string, of *Shape, least, most int64) *Shape {
	return &Shape{kind: list, Says: says, Element: of, Least: least, most: most}
}

// Dictionary returns the shape of a mapping whose keys match a pattern.
func Dictionary(says, keys string, of *Shape) *Shape {
	return &Shape{kind: dictionary, Says: says, Keys: newExpression(keys), Element: of}
}

// Object returns the shape of a mapping with the given fields.
func Object(says string, fields ...Field) *Shape {
	return &Shape{kind: object, Says: says, Fields: fields}
}

// Choice returns the shape of the first branch whose guard matches.
func Choice(says string, branches ...Branch) *Shape {
	return &Shape{kind: choice, Says: says, When: branches}
}

// OnScalar returns the branch for any scalar.
func OnScalar(then *Shape) Branch { return Branch{Guard{node: scalarNode}, then} }

// OnMapping returns the branch for a mapping.
func OnMapping(then *Shape) Branch { return Branch{Guard{node: mappingNode}, then} }

// OnSequence returns the branch for a list.
func OnSequence(then *Shape) Branch { return Branch{Guard{node: sequenceNode}, then} }

// OnKey returns the branch for a mapping with any of the keys.
func OnKey(then *Shape, keys ...string) Branch {
	return Branch{Guard{node: mappingNode, Keys: keys}, then}
}

// OnText returns the branch for a text that matches the pattern.
func OnText(pattern string, then *Shape) Branch {
	return Branch{Guard{node: scalarNode, match: newExpression(pattern)}, then}
}

// WithForms requires exactly one of the sets of keys.
func (s *Shape) WithForms(forms ...[]string) *Shape {
	s.forms = forms
	return s
}

// Nonempty requires at least one entry, with the message if there is none.
func (s *Shape) Nonempty(says string) *Shape {
	s.Least, s.Empty = 1, says
	return s
}

// WithMessage sets the message for an object in none of its forms, or for a list with too few entries.
func (s *Shape) WithMessage(says string) *Shape {
	s.Empty = says
	return s
}

// WithReplacements sets the keys of other programs, in lower case.
func (s *Shape) WithReplacements(habits map[string]Replacement) *Shape {
	s.Replacements = habits
	return s
}

// WithInstead sets the function that says what to write in place of a text.
func (s *Shape) WithInstead(instead func(text string) (expected, fix string)) *Shape {
	s.ReplacementFor = instead
	return s
}

// WithParams allows parameters, which are filled in.
func (s *Shape) WithParams() *Shape {
	s.params = true
	return s
}

// Named puts the shape under that name in the schema's $defs.
func (s *Shape) Named(name string) *Shape {
	s.name = name
	return s
}

// NotBuilt returns a copy of the shape, marked as a feature that this version does not build.
func (s *Shape) NotBuilt(feature string) *Shape {
	marked := *s
	marked.unbuilt = feature
	marked.name = ""
	return &marked
}

// fieldByKey returns the field with a key.
func (s *Shape) fieldByKey(key string) (Field, bool) {
	for _, f := range s.Fields {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// keyNames returns the keys of an object.
func (s *Shape) keyNames() []string {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Key
	}
	return names
}

// builtKeys returns the keys of an object that this version builds, in their order.
func (s *Shape) builtKeys() []string {
	var names []string
	for _, f := range s.Fields {
		if f.Shape.unbuilt == "" {
			names = append(names, f.Key)
		}
	}
	return names
}

// formKeys returns the keys that occur in the forms of an object, in order of appearance.
func (s *Shape) formKeys() []string {
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
