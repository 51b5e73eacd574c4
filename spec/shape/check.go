package shape

// This file checks a document against the shape of the language.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"gopkg.in/yaml.v3"
)

// checker compares a document with shapes and collects every difference.
type checker struct {
	*document.Findings
	// the problem of a text with ${…} where no parameters are filled in; nil where such a text is valid
	unfilled     *document.Problem
	unbuiltDepth int // the number of unbuilt parts around the node: only the outermost is reported
}

// Check reports every difference of a document from its shape. Unless unfilled is nil, it is the problem to report for
// a scalar that contains ${…} where no parameters are filled in.
func Check(f *document.Findings, s *Shape, root document.Node, unfilled *document.Problem) {
	(&checker{Findings: f, unfilled: unfilled}).checkNode(s, root)
}

// checkNode compares one value with its shape.
func (c *checker) checkNode(s *Shape, n document.Node) {
	if !c.IsSound(n) {
		return
	}
	if s.unbuilt != "" {
		if c.unbuiltDepth == 0 {
			c.NotBuilt(n.Heading(), n.Path, s.unbuilt)
			c.MarkUnbuilt(n)
		}
		c.unbuiltDepth++
		defer func() { c.unbuiltDepth-- }()
	}
	if wanted := yamlKinds[s.kind]; wanted != 0 && (n.Value.Kind != wanted || n.IsNull()) {
		c.reportMismatch(s, n)
		return
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

// yamlKinds are the kinds of YAML node that the kinds of shape require; 0 where several are valid.
var yamlKinds = [...]yaml.Kind{object: yaml.MappingNode, dictionary: yaml.MappingNode, list: yaml.SequenceNode,
	text: yaml.ScalarNode, category: yaml.ScalarNode, number: yaml.ScalarNode, whole: yaml.ScalarNode,
	boolean: yaml.ScalarNode, choice: 0}

// reportMismatch reports a value of the wrong kind.
func (c *checker) reportMismatch(s *Shape, n document.Node) {
	p := document.Problem{Message: "found " + n.Describe(), Expected: s.Says}
	switch {
	case n.IsNull() && n.Text() != "" && (s.kind == category && c.fitsText(s, n.Text()) || s.kind == text &&
		s.oneOf == nil):
		p.Message = "unquoted " + n.Text() + " is no text: YAML reads it as nothing at all"
		p.Fix = quoteYAML(n.Text())
	case s.kind == category && c.unquotedColon(n) != "":
		p.Message, p.Expected = "YAML reads a mapping where a text has a colon", "a value with a colon in quotes"
		p.Fix = quoteYAML(c.unquotedColon(n))
	case n.IsNull() && s.kind == category && s.match == nil:
		p.Fix = `""`
	case (n.IsNumber() || n.Value.Tag == "!!bool") && s.kind == text && s.oneOf == nil && c.fitsText(s, n.Text()):
		p.Fix = quoteYAML(n.Text())
	case s.kind == whole && n.IsQuoted() && document.IsNumber(n.Text()):
		p.Fix = n.Text() + ", without quotes"
	case s.kind == choice && n.IsText():
		var options []string
		for _, b := range s.When {
			options = append(options, b.Then.oneOf...)
		}
		p = c.Among(n, p, options)
	}
	if s.kind == choice {
		c.suggestKey(s, n, &p)
	}
	c.applyHabit(s, n, &p)
	c.AddProblem(n, p)
	c.MarkUnsound(n)
}

// unquotedColon returns the text that was meant by a mapping of one key that is written without braces, such as
// South: Valley in a list; "" for any other value.
func (c *checker) unquotedColon(n document.Node) string {
	pairs := n.Pairs()
	if len(pairs) != 1 || pairs[0].Value.Kind != yaml.ScalarNode || n.Value.Line != pairs[0].Value.Line ||
		n.Value.Column != pairs[0].Key.Column { // a brace stands before the key
		return ""
	}
	return strings.TrimSuffix(pairs[0].Key.Value+": "+pairs[0].Value.Value, " ")
}

// suggestKey adds to the problem of a mapping that matches no branch of a choice the key of a branch that was probably
// meant.
func (c *checker) suggestKey(s *Shape, n document.Node, p *document.Problem) {
	var keys []string
	for _, b := range s.When {
		keys = append(keys, b.Guard.Keys...)
	}
	for _, pair := range n.Pairs() {
		if near := c.Nearest(pair.Key.Value, keys); near != "" {
			p.Message, p.Nearest, p.Fix = fmt.Sprintf("unknown key %q", document.Clip(pair.Key.Value)), near,
				c.RepairedLine(pair.Key, near)
			return
		}
	}
}

// quoteYAML writes a text in YAML's double quotes.
func quoteYAML(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (c *checker) checkAnything(n document.Node) {
	for _, child := range append(n.Pairs(), n.Items()...) {
		c.checkNode(&Shape{}, child)
	}
}

func (c *checker) checkObject(s *Shape, n document.Node) {
	var present []string
	for _, pair := range n.Pairs() {
		f, known := s.fieldByKey(pair.Key.Value)
		switch {
		case c.IsRefused(pair.Key): // already reported
		case !known:
			present = append(present, c.unknownKey(s, pair))
		default:
			present = append(present, f.Key)
			if f.Requires != "" && !n.Get(f.Requires).Present() {
				c.WrongKey(pair, document.Problem{
					Message:  fmt.Sprintf("%s means nothing without %s", f.Key, f.Requires),
					Expected: f.Requires + " as well",
				})
			}
			c.checkNode(f.Shape, pair)
		}
	}
	for _, f := range s.Fields {
		has, replaced := slices.Contains(present, f.Key), f.Instead != "" && slices.Contains(present, f.Instead)
		if at := n.Get(f.Key); has && replaced && at.Present() { // a mistyped key is reported already
			c.WrongKey(at, document.Problem{Message: fmt.Sprintf("%s and %s do not go together", f.Key, f.Instead),
				Expected: "one of the two"})
		}
		if f.Required != "" && !has && !replaced {
			c.Report(n.Heading(), n.Path, document.Problem{
				Message: fmt.Sprintf("missing key %q", f.Key), Expected: f.Required, Fix: f.Fix,
			})
			c.MarkUnsound(n)
		}
	}
	c.checkForms(s, n, present)
}

// unknownKey reports a key that an object does not have. It returns the key that was probably meant, so that this key
// is not reported as missing too.
func (c *checker) unknownKey(s *Shape, pair document.Node) string {
	p := document.Problem{Message: fmt.Sprintf("unknown key %q", document.Clip(pair.Key.Value)),
		Expected: document.OneOf(s.builtKeys())}
	p = c.Among(pair.KeyNode(), p, s.keyNames())
	meant := p.Nearest
	if h, known := s.Replacements[strings.ToLower(pair.Key.Value)]; known {
		p.Expected, meant = h.Expected, h.Meant
	} else if pair.IsNull() && c.afterComma(pair.Key) {
		p.Expected = withPoint
	}
	c.WrongKey(pair, p)
	return meant
}

// checkForms reports an object whose keys match none of its forms.
func (c *checker) checkForms(s *Shape, n document.Node, present []string) {
	if len(s.forms) == 0 {
		return
	}
	governed := s.formKeys()
	var have []string
	for _, key := range governed {
		if slices.Contains(present, key) {
			have = append(have, key)
		}
	}
	var forms []string
	for _, form := range s.forms {
		isMissing := func(key string) bool { return !slices.Contains(have, key) }
		if len(have) == len(form) && !slices.ContainsFunc(form, isMissing) {
			return
		}
		forms = append(forms, strings.Join(form, " with "))
	}
	p := document.Problem{Message: "none of " + strings.Join(governed, ", ") + " is there",
		Expected: "exactly one of: " +
			strings.Join(forms, "; ")}
	if len(have) > 0 {
		p.Message = strings.Join(have, ", ") + " do not go together"
		if len(have) == 1 {
			p.Message = have[0] + " alone is not enough"
		}
	}
	if s.Empty != "" {
		p.Expected = s.Empty
	}
	c.Report(n.Heading(), n.Path, p)
	c.MarkUnsound(n)
}

func (c *checker) checkDictionary(s *Shape, n document.Node) {
	pairs := n.Pairs()
	if int64(len(pairs)) < s.Least {
		c.reportTooFew(s, n)
	}
	for _, pair := range pairs {
		if c.IsRefused(pair.Key) {
			continue
		}
		if !s.Keys.MatchString(pair.Key.Value) {
			c.Refuse(pair.Key, pair.Path, document.Problem{
				Message:  fmt.Sprintf("%q is not a name", document.Clip(pair.Key.Value)),
				Expected: "a name that matches " + s.Keys.text,
			})
			continue
		}
		c.checkNode(s.Element, pair)
	}
}

func (c *checker) checkList(s *Shape, n document.Node) {
	items := n.Items()
	if int64(len(items)) < s.Least {
		c.reportTooFew(s, n)
	}
	if s.most > 0 && int64(len(items)) > s.most {
		p := document.Problem{Message: fmt.Sprintf("%d entries", len(items)), Expected: s.Says}
		if s.Element.kind == number {
			p.Expected += "; decimals are written with " + withPoint
		}
		c.AddProblem(n, p)
	}
	for _, item := range items {
		c.checkNode(s.Element, item)
	}
}

func (c *checker) reportTooFew(s *Shape, n document.Node) {
	p := document.Problem{Message: "is empty", Expected: s.Says}
	if held := len(n.Value.Content); held > 0 {
		p.Message = fmt.Sprintf("too few entries: %d of at least %d", held, s.Least)
	}
	if s.Empty != "" {
		p.Expected = s.Empty
	}
	c.AddProblem(n, p)
	c.MarkUnsound(n)
}

func (c *checker) checkChoice(s *Shape, n document.Node) {
	for _, b := range s.When {
		if b.Guard.matches(n) {
			c.checkNode(b.Then, n)
			return
		}
	}
	c.reportMismatch(s, n)
}

// matches reports whether a node meets the guard's conditions.
func (g Guard) matches(n document.Node) bool {
	switch g.node {
	case mappingNode:
		if n.Value.Kind != yaml.MappingNode {
			return false
		}
	case sequenceNode:
		return n.Value.Kind == yaml.SequenceNode
	default:
		return n.Value.Kind == yaml.ScalarNode &&
			(g.match == nil || n.IsText() && g.match.MatchString(n.Text()))
	}
	for _, key := range g.Keys {
		if n.Get(key).Present() {
			return true
		}
	}
	return len(g.Keys) == 0
}

func (c *checker) checkScalar(s *Shape, n document.Node) {
	switch s.kind {
	case text:
		c.checkText(s, n)
	case category:
		if !c.fitsText(s, n.Text()) {
			c.reportMismatch(s, n)
		}
	case number:
		if !n.IsText() && !n.IsNumber() || !s.match.MatchString(n.Text()) {
			c.reportMismatch(s, n)
		}
	case whole:
		c.checkWhole(s, n)
	case boolean:
		if n.Value.Tag != "!!bool" {
			c.reportMismatch(s, n)
		}
	}
	if c.unfilled != nil && !s.params && strings.Contains(n.Text(), "${") {
		c.AddProblem(n, *c.unfilled)
	}
}

// fitsText reports whether a text matches the shape's pattern and options.
func (c *checker) fitsText(s *Shape, t string) bool {
	return (s.match == nil || s.match.MatchString(t)) && (s.oneOf == nil || slices.Contains(s.oneOf, t))
}

func (c *checker) checkText(s *Shape, n document.Node) {
	if !n.IsText() {
		c.reportMismatch(s, n)
		return
	}
	if c.fitsText(s, n.Text()) {
		return
	}
	p := document.Problem{Message: "found " + n.Describe(), Expected: s.Says}
	c.AddProblem(n, c.Among(n, p, s.oneOf))
}

func (c *checker) checkWhole(s *Shape, n document.Node) {
	x, err := document.ParseNumber(n.Text())
	if !n.IsNumber() || err != nil || !x.IsInt() {
		c.reportMismatch(s, n)
		return
	}
	if x.Cmp(big.NewRat(s.Least, 1)) < 0 || s.most != 0 && x.Cmp(big.NewRat(s.most, 1)) > 0 {
		c.AddProblem(n, document.Problem{Message: n.Text() + " is out of range", Expected: s.Says})
	}
}
