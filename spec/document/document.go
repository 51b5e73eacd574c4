package document

// This file reads YAML text into one tree of nodes.

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Read reads the only YAML document of the text. It reports invalid YAML and the parts of YAML that the language
// excludes: anchors, aliases, merge keys, tags, duplicate keys, keys that are not scalars. empty and second are what it
// expects in place of an empty text and of a second document. It returns false if there is no tree to continue with.
func (f *Findings) Read(empty, second string) (Node, bool) {
	if !f.isReadable() {
		return Node{}, false
	}
	decoder := yaml.NewDecoder(strings.NewReader(strings.TrimPrefix(f.text, "\ufeff")))
	var document, more yaml.Node
	switch err := decodeSafely(decoder, &document); {
	case err == io.EOF:
		f.ReportAt(1, 1, "", Problem{Message: "the file is empty", Expected: empty})
		return Node{}, false
	case err != nil:
		f.reportSyntax(err)
		return Node{}, false
	}
	if err := decodeSafely(decoder, &more); err != io.EOF {
		if err != nil {
			f.reportSyntax(err)
		} else {
			f.ReportAt(more.Line, more.Column, "", Problem{Message: "a second YAML document", Expected: second})
		}
		return Node{}, false
	}
	root := Node{Value: document.Content[0]}
	f.refuseExtensions(root)
	return root, true
}

// decode is Decode with panics of the YAML package, which reads hostile text, turned into errors.
func decodeSafely(decoder *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errUnreadable
		}
	}()
	return decoder.Decode(into)
}

// isReadable reports text that is not UTF-8 or contains control characters.
func (f *Findings) isReadable() bool {
	line, column := 1, 1
	for i, r := range f.text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(f.text[i:], "\ufffd"):
			f.ReportAt(line, column, "", Problem{Message: "not UTF-8", Expected: "a text file in UTF-8"})
			return false
		case r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f:
			f.ReportAt(line, column, "", Problem{Message: fmt.Sprintf("control character %U", r), Expected: "text"})
			return false
		case r == '\n':
			line, column = line+1, 0
		}
		column++
	}
	return true
}

var errUnreadable = errors.New("yaml: it cannot be read")

var (
	syntaxLine = regexp.MustCompile(`^yaml: line ([0-9]+): `)
	// The YAML package counts lines from 0 in messages of its parser and from 1 in messages of its scanner. These are
	// all the messages of its parser with a line.
	syntaxFromZero = regexp.MustCompile(`^did not find expected (',' or |node content|key|'-' indicator|<)`)
	unknownAnchor  = regexp.MustCompile(`^yaml: unknown anchor '(.*)' referenced$`)
)

// reportSyntax reports an error of the YAML package at the line that it names.
func (f *Findings) reportSyntax(err error) {
	if m := unknownAnchor.FindStringSubmatch(err.Error()); m != nil {
		f.reportUnknownAlias(m[1])
		return
	}
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := syntaxLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = err.Error()[len(m[0]):]
		if syntaxFromZero.MatchString(message) {
			line++
		}
	}
	line = min(max(line, 1), len(f.lines))
	if f.reportTab(line, message) {
		return
	}
	for line > 1 && strings.TrimSpace(f.Line(line)) == "" {
		line--
	}
	f.ReportAt(line, 1+len(indentation(f.Line(line))), "", Problem{
		Message: "not YAML: " + message, Expected: "YAML; the mistake is near this line, often after it",
	})
}

// reportTab reports the tab that indents a line, if that is the mistake. The YAML package names the line itself, or the
// preceding value that the line would continue.
func (f *Findings) reportTab(line int, message string) bool {
	last := line
	switch {
	case strings.HasPrefix(message, "found a tab character"):
		last = len(f.lines)
	case message != "found character that cannot start any token":
		return false
	}
	for ; line <= last; line++ {
		if tab := strings.IndexByte(indentation(f.Line(line)), '\t'); tab >= 0 {
			f.ReportAt(line, 1+tab, "", Problem{Message: "not YAML: a tab is used for indentation", Expected: "spaces"})
			return true
		}
	}
	return false
}

// reportUnknownAlias reports the first use of an undefined alias.
func (f *Findings) reportUnknownAlias(name string) {
	line, column := 1, 1
	for i, text := range f.lines {
		if before, _, found := strings.Cut(text, "*"+name); found {
			line, column = i+1, 1+utf8.RuneCountInString(before)
			break
		}
	}
	f.ReportAt(line, column, "", Problem{Message: "an alias (*" + Clip(name) + ")",
		Expected: "the value itself, written out"})
}

// indentation returns the white space at the beginning of a line.
func indentation(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// refuseExtensions reports the parts of YAML that are not part of the language.
func (f *Findings) refuseExtensions(n Node) {
	switch {
	case n.Value.Kind == yaml.AliasNode:
		f.Report(n.Value, n.Path, Problem{
			Message: "an alias (*" + n.Value.Value + ")", Expected: "the value itself, written out again",
		})
		return
	case n.Value.Anchor != "":
		f.Report(n.Value, n.Path, Problem{
			Message: "an anchor (&" + n.Value.Anchor + ")", Expected: "no anchors: there are no aliases to use them",
		})
	case n.Value.Style&yaml.TaggedStyle != 0:
		f.Report(n.Value, n.Path, Problem{Message: "a tag (" + Clip(n.Value.Tag) + ")", Expected: "no YAML tags"})
	}
	seen := map[string]int{}
	for _, pair := range n.Pairs() {
		f.refuseKey(pair, seen)
		f.refuseExtensions(pair)
	}
	for _, item := range n.Items() {
		f.refuseExtensions(item)
	}
}

// refuseKey reports a key that is not a plain scalar or that occurred before.
func (f *Findings) refuseKey(pair Node, seen map[string]int) {
	key, p := pair.Key, Problem{Expected: "a name before the colon"}
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
		p.Message = fmt.Sprintf("duplicate key %q", Clip(key.Value))
		p.Expected = fmt.Sprintf("each key once; the first is in line %d", seen[key.Value])
	default:
		seen[key.Value] = key.Line
		return
	}
	f.Refuse(key, pair.Path, p)
}
