package spec

// This file holds the check of a document against the shape of the language.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// checker compares a document with shapes and collects every difference.
type checker struct {
	*findings
	unfilled *Problem // of a text with ${…} where no parameters are filled in, nil where that is a text as any other
	within   int      // how many unbuilt parts enclose the node: only the outermost is named
}

// check reports every difference of a document from its shape. Unless unfilled is nil, it is the problem of a scalar that holds
// ${…} although no parameters are filled in there.
func check(f *findings, s *shape, root node, unfilled *Problem) {
	(&checker{findings: f, unfilled: unfilled}).check(s, root)
}

// check compares one value with its shape.
func (c *checker) check(s *shape, n node) {
	if !c.sound(n) {
		return
	}
	if s.unbuilt != "" {
		if c.within == 0 {
			c.notBuilt(n.heading(), n.path, s.unbuilt)
			c.leaveOut(n)
		}
		c.within++
		defer func() { c.within-- }()
	}
	switch s.kind {
	case anything:
		c.checkAnything(n)
	case object:
		c.checkObject(s, n)
	case dictionary:
		c.checkDictionary(s, n)
	case list:
		c.checkList(s, n)
	case choice:
		c.checkChoice(s, n)
	default:
		c.checkScalar(s, n)
	}
}

// mismatch reports a value of the wrong kind.
func (c *checker) mismatch(s *shape, n node) {
	p := Problem{Message: "found " + n.found(), Expected: s.says}
	switch {
	case n.isNull() && n.text() != "" && (s.kind == category || s.kind == text && s.oneOf == nil):
		p.Message = "unquoted " + n.text() + " is no text: YAML reads it as nothing at all"
		p.Fix = quote(n.text())
	case n.isNull() && s.kind == category:
		p.Fix = `""`
	case (n.isNumber() || n.value.Tag == "!!bool") && s.kind == text && s.oneOf == nil && c.fitsText(s, n.text()):
		p.Fix = quote(n.text())
	case s.kind == whole && n.isQuoted() && isNumber(n.text()):
		p.Fix = n.text() + ", without quotes"
	case s.kind == choice && n.isText():
		var options []string
		for _, b := range s.when {
			options = append(options, b.then.oneOf...)
		}
		if p.Nearest = c.nearest(n.text(), options); p.Nearest != "" {
			p.Fix = c.mended(n.value, p.Nearest)
		}
	}
	if s.kind == choice {
		c.meantKey(s, n, &p)
	}
	c.habit(s, n, &p)
	c.report(n.position(), n.path, p)
	c.spoil(n)
}

// meantKey says of a mapping that is no branch of a choice which key of a branch was probably meant.
func (c *checker) meantKey(s *shape, n node, p *Problem) {
	var keys []string
	for _, b := range s.when {
		keys = append(keys, b.guard.keys...)
	}
	for _, pair := range n.pairs() {
		if near := c.nearest(pair.key.Value, keys); near != "" {
			p.Message, p.Nearest, p.Fix = fmt.Sprintf("unknown key %q", clip(pair.key.Value)), near, c.mended(pair.key, near)
			return
		}
	}
}

// quote writes a text in YAML's double quotes.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (c *checker) checkAnything(n node) {
	for _, pair := range n.pairs() {
		c.check(&shape{}, pair)
	}
	for _, item := range n.items() {
		c.check(&shape{}, item)
	}
}

func (c *checker) checkObject(s *shape, n node) {
	if n.value.Kind != yaml.MappingNode {
		c.mismatch(s, n)
		return
	}
	var present []string
	for _, pair := range n.pairs() {
		f, known := s.field(pair.key.Value)
		switch {
		case c.isRefused(pair.key): // already reported
		case !known:
			present = append(present, c.unknownKey(s, pair))
		default:
			present = append(present, f.key)
			if f.needs != "" && !n.get(f.needs).present() {
				c.report(pair.key, pair.path, Problem{
					Message:  fmt.Sprintf("%s means nothing without %s", f.key, f.needs),
					Expected: f.needs + " beside it",
				})
			}
			c.check(f.shape, pair)
		}
	}
	for _, f := range s.fields {
		if f.required != "" && !slices.Contains(present, f.key) {
			c.report(n.heading(), n.path, Problem{
				Message: fmt.Sprintf("missing key %q", f.key), Expected: f.required, Fix: f.fix,
			})
			c.spoil(n)
		}
	}
	c.checkForms(s, n, present)
}

// unknownKey reports a key that an object does not have. It returns the key that was probably
// meant, so that it is not reported as missing too.
func (c *checker) unknownKey(s *shape, pair node) string {
	names := s.keyNames()
	p := Problem{Message: fmt.Sprintf("unknown key %q", clip(pair.key.Value)), Expected: oneOf(s.builtKeys())}
	if p.Nearest = c.nearest(pair.key.Value, names); p.Nearest != "" {
		p.Fix = c.mended(pair.key, p.Nearest)
	}
	meant := p.Nearest
	if h, known := s.habits[strings.ToLower(pair.key.Value)]; known {
		p.Expected, meant = h.expected, h.meant
	} else if pair.isNull() && c.afterComma(pair.key) {
		p.Expected = withPoint
	}
	c.report(pair.key, pair.path, p)
	return meant
}

// checkForms reports an object whose keys are in none of its forms.
func (c *checker) checkForms(s *shape, n node, present []string) {
	if len(s.forms) == 0 {
		return
	}
	governed := s.governed()
	var have []string
	for _, key := range governed {
		if slices.Contains(present, key) {
			have = append(have, key)
		}
	}
	var forms []string
	for _, form := range s.forms {
		if slices.Equal(have, form) || len(have) == len(form) && containsAll(have, form) {
			return
		}
		forms = append(forms, strings.Join(form, " with "))
	}
	p := Problem{Message: "none of " + strings.Join(governed, ", ") + " is there", Expected: "exactly one of: " + strings.Join(forms, "; ")}
	if len(have) > 0 {
		p.Message = strings.Join(have, ", ") + " do not go together"
		if len(have) == 1 {
			p.Message = have[0] + " alone is not enough"
		}
	}
	if s.empty != "" {
		p.Expected = s.empty
	}
	c.report(n.heading(), n.path, p)
	c.spoil(n)
}

func containsAll(set, wanted []string) bool {
	for _, w := range wanted {
		if !slices.Contains(set, w) {
			return false
		}
	}
	return true
}

func (c *checker) checkDictionary(s *shape, n node) {
	if n.value.Kind != yaml.MappingNode {
		c.mismatch(s, n)
		return
	}
	pairs := n.pairs()
	if int64(len(pairs)) < s.least {
		c.tooFew(s, n)
	}
	for _, pair := range pairs {
		if c.isRefused(pair.key) {
			continue
		}
		if !s.keys.MatchString(pair.key.Value) {
			c.refuse(pair.key, pair.path, Problem{
				Message:  fmt.Sprintf("%q is not a name", clip(pair.key.Value)),
				Expected: "a name that matches " + s.keys.String(),
			})
			continue
		}
		c.check(s.of, pair)
	}
}

func (c *checker) checkList(s *shape, n node) {
	if n.value.Kind != yaml.SequenceNode {
		c.mismatch(s, n)
		return
	}
	items := n.items()
	if int64(len(items)) < s.least {
		c.tooFew(s, n)
	}
	if s.most > 0 && int64(len(items)) > s.most {
		p := Problem{Message: fmt.Sprintf("%d entries", len(items)), Expected: s.says}
		if s.of.kind == number {
			p.Expected += "; decimals are written with " + withPoint
		}
		c.report(n.position(), n.path, p)
	}
	for _, item := range items {
		c.check(s.of, item)
	}
}

func (c *checker) tooFew(s *shape, n node) {
	p := Problem{Message: "is empty", Expected: s.says}
	if held := len(n.value.Content); held > 0 {
		p.Message = fmt.Sprintf("too few entries: %d of at least %d", held, s.least)
	}
	if s.empty != "" {
		p.Expected = s.empty
	}
	c.report(n.position(), n.path, p)
	c.spoil(n)
}

func (c *checker) checkChoice(s *shape, n node) {
	for _, b := range s.when {
		if b.guard.holds(n) {
			c.check(b.then, n)
			return
		}
	}
	c.mismatch(s, n)
}

// holds is true where the guard's conditions are met.
func (g guard) holds(n node) bool {
	switch g.node {
	case mappingNode:
		if n.value.Kind != yaml.MappingNode {
			return false
		}
	case sequenceNode:
		return n.value.Kind == yaml.SequenceNode
	default:
		return n.value.Kind == yaml.ScalarNode &&
			(g.match == nil || n.isText() && g.match.MatchString(n.text()))
	}
	for _, key := range g.keys {
		if n.get(key).present() {
			return true
		}
	}
	return len(g.keys) == 0
}

func (c *checker) checkScalar(s *shape, n node) {
	if n.value.Kind != yaml.ScalarNode || n.isNull() {
		c.mismatch(s, n)
		return
	}
	switch s.kind {
	case text:
		c.checkText(s, n)
	case number:
		if !n.isText() && !n.isNumber() || !s.match.MatchString(n.text()) {
			c.mismatch(s, n)
		}
	case whole:
		c.checkWhole(s, n)
	case boolean:
		if n.value.Tag != "!!bool" {
			c.mismatch(s, n)
		}
	}
	if c.unfilled != nil && !s.params && strings.Contains(n.text(), "${") {
		c.report(n.position(), n.path, *c.unfilled)
	}
}

// fitsText is true where a text matches the shape's pattern and options.
func (c *checker) fitsText(s *shape, t string) bool {
	return (s.match == nil || s.match.MatchString(t)) && (s.oneOf == nil || slices.Contains(s.oneOf, t))
}

func (c *checker) checkText(s *shape, n node) {
	if !n.isText() {
		c.mismatch(s, n)
		return
	}
	if c.fitsText(s, n.text()) {
		return
	}
	p := Problem{Message: "found " + n.found(), Expected: s.says}
	if p.Nearest = c.nearest(n.text(), s.oneOf); p.Nearest != "" {
		p.Fix = c.mended(n.value, p.Nearest)
	}
	c.report(n.position(), n.path, p)
}

func (c *checker) checkWhole(s *shape, n node) {
	x, err := parseNumber(n.text())
	if !n.isNumber() || err != nil || !x.IsInt() {
		c.mismatch(s, n)
		return
	}
	if x.Cmp(big.NewRat(s.least, 1)) < 0 || s.most != 0 && x.Cmp(big.NewRat(s.most, 1)) > 0 {
		c.report(n.position(), n.path, Problem{Message: n.text() + " is out of range", Expected: s.says})
	}
}
