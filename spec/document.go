package spec

// This file holds the document: YAML text to one tree of nodes without anything clever in it.

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// readDocument reads the one YAML document of a text. It reports what is wrong with the text
// as YAML and everything this language leaves out of YAML: anchors, aliases, merge keys, tags,
// duplicate keys, keys that are no scalars. It returns false where there is no tree to go on
// with.
func (f *findings) readDocument(text string) (node, bool) {
	if !f.readable(text) {
		return node{}, false
	}
	decoder := yaml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	var document, second yaml.Node
	switch err := decode(decoder, &document); {
	case err == io.EOF:
		f.reportAt(1, 1, "", Problem{Message: "the file is empty", Expected: "a release, which starts with version: 1"})
		return node{}, false
	case err != nil:
		f.reportSyntax(err)
		return node{}, false
	}
	if err := decode(decoder, &second); err != io.EOF {
		if err != nil {
			f.reportSyntax(err)
		} else {
			f.reportAt(second.Line, second.Column, "", Problem{
				Message: "a second YAML document", Expected: "one release a file, without --- between",
			})
		}
		return node{}, false
	}
	root := node{value: document.Content[0]}
	f.refuseCleverness(root)
	return root, true
}

// decode is Decode with a panic of the YAML package, which reads hostile text, made an error.
func decode(decoder *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: cannot be read: %v", r)
		}
	}()
	return decoder.Decode(into)
}

// readable reports text that is not UTF-8 or holds control characters.
func (f *findings) readable(text string) bool {
	line, column := 1, 1
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			f.reportAt(line, column, "", Problem{Message: "not UTF-8", Expected: "a text file in UTF-8"})
			return false
		case r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f:
			f.reportAt(line, column, "", Problem{Message: fmt.Sprintf("control character %U", r), Expected: "text"})
			return false
		case r == '\n':
			line, column = line+1, 0
		}
		column++
	}
	return true
}

var syntaxLine = regexp.MustCompile(`^yaml: line ([0-9]+): `)

// reportSyntax reports an error of the YAML package at the line it names.
func (f *findings) reportSyntax(err error) {
	message, line := err.Error(), 1
	if m := syntaxLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	line = min(max(line, 1), len(f.lines))
	for line > 1 && strings.TrimSpace(f.line(line)) == "" {
		line--
	}
	shown := f.line(line)
	column := 1 + len(shown) - len(strings.TrimLeft(shown, " \t"))
	f.reportAt(line, column, "", Problem{
		Message: "not YAML: " + strings.TrimPrefix(message, "yaml: "), Expected: "YAML; the mistake is near this line, often after it",
	})
}

// refuseCleverness reports what of YAML is not part of the language.
func (f *findings) refuseCleverness(n node) {
	switch {
	case n.value.Kind == yaml.AliasNode:
		f.report(n.value, n.path, Problem{
			Message: "an alias (*" + n.value.Value + ")", Expected: "the value itself, written out again",
		})
		return
	case n.value.Anchor != "":
		f.report(n.value, n.path, Problem{
			Message: "an anchor (&" + n.value.Anchor + ")", Expected: "no anchors: there are no aliases to use them",
		})
	case n.value.Style&yaml.TaggedStyle != 0:
		f.report(n.value, n.path, Problem{Message: "a tag (" + clip(n.value.Tag) + ")", Expected: "no YAML tags"})
	}
	seen := map[string]int{}
	for _, pair := range n.pairs() {
		f.refuseKey(pair, seen)
		f.refuseCleverness(pair)
	}
	for _, item := range n.items() {
		f.refuseCleverness(item)
	}
}

// refuseKey reports a key that is no plain scalar or was there before.
func (f *findings) refuseKey(pair node, seen map[string]int) {
	key, p := pair.key, Problem{Expected: "a name before the colon"}
	switch {
	case key.Kind != yaml.ScalarNode:
		p.Message = "a key that is not a single text"
	case key.Tag == "!!merge":
		p.Message, p.Expected = "a merge key (<<)", "the keys themselves, written out again"
	case key.Anchor != "" || key.Style&yaml.TaggedStyle != 0:
		p.Message = "an anchor or tag on a key"
	case key.Tag == "!!null" && key.Value != "null":
		p.Message = "an empty key"
	case seen[key.Value] > 0:
		p.Message = fmt.Sprintf("duplicate key %q", clip(key.Value))
		p.Expected = fmt.Sprintf("each key once; the first is in line %d", seen[key.Value])
	default:
		seen[key.Value] = key.Line
		return
	}
	f.refused[key] = true
	f.report(key, pair.path, p)
}
