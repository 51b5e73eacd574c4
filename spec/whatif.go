package spec

// This file finds the numbers of a spec that another budget changes, and rewrites a spec with another amount of its
// budget, to find out what that would buy.

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/document"
	"gopkg.in/yaml.v3"
)

// Number is a number of the budget or of a target, as it is written in a spec: the bytes From to To of
// [Release.Written], without quotes. Of is epsilon, delta or rho for the whole budget (epsilon of a collection),
// leaf.PATH for a share or an amount of the split, and target.MARGINAL for the margin of a target.
type Number struct {
	Of       string
	From, To int
}

// amountKeys are the keys of the whole budget's amounts.
var amountKeys = []string{"epsilon", "delta", "rho"}

// Numbers returns the numbers of the budget and of the targets, in the order of the text. It returns an error for a
// number that is written with escapes or as a block of text.
func (r *Release) Numbers() ([]Number, error) {
	root, ok := readTree(document.NewFindings(r.Source.Name, r.written))
	if !ok {
		return nil, fmt.Errorf("the spec cannot be read again")
	}
	f := numberFinder{text: r.written, starts: lineStarts(r.written)}
	budget := root.Get("budget")
	for _, key := range amountKeys {
		f.add(key, budget.Get(key))
	}
	for _, collection := range root.Get("collect").Pairs() {
		f.add("epsilon", collection.Get("epsilon"))
	}
	f.addSplit(budget.Get("split"), "leaf.")
	for _, m := range root.Get("marginals").Pairs() {
		f.add("target."+m.Key.Value, m.Get("target").Get("margin"))
	}
	slices.SortFunc(f.found, func(a, b Number) int { return cmp.Compare(a.From, b.From) })
	return f.found, f.err
}

// numberFinder collects numbers of a text, up to the first that cannot be found.
type numberFinder struct {
	text   string
	starts []int // of its lines
	found  []Number
	err    error
}

// addSplit adds the shares and amounts of a split.
func (f *numberFinder) addSplit(n document.Node, prefix string) {
	for _, part := range n.Pairs() {
		name := prefix + part.Key.Value
		if part.Value.Kind == yaml.ScalarNode {
			if !part.Is("needed") {
				f.add(name, part)
			}
			continue
		}
		for _, key := range []string{"share", "epsilon", "rho"} {
			f.add(name, part.Get(key))
		}
		f.addSplit(part.Get("split"), name+".")
	}
}

// add adds a number, if the spec has it.
func (f *numberFinder) add(of string, n document.Node) {
	if !n.Present() || f.err != nil {
		return
	}
	from := f.starts[n.Value.Line-1]
	for range n.Value.Column - 1 { // columns count characters
		_, size := utf8.DecodeRuneInString(f.text[from:])
		from += size
	}
	if n.IsQuoted() {
		from++
	}
	to := from + len(n.Text())
	if to > len(f.text) || f.text[from:to] != n.Text() {
		f.err = fmt.Errorf("%s is not written as a plain number", n.Path)
		return
	}
	f.found = append(f.found, Number{of, from, to})
}

// lineBreak is what ends a line for YAML.
var lineBreak = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

// lineStarts returns the byte at which each line of a text starts. A byte order mark is not part of the first.
func lineStarts(text string) []int {
	starts := []int{len(text) - len(strings.TrimPrefix(text, "\ufeff"))}
	for _, at := range lineBreak.FindAllStringIndex(text, -1) {
		starts = append(starts, at[1])
	}
	return starts
}

// WithBudget returns the release with another amount of its budget, as if the spec had been written with it. key is
// epsilon, delta or rho, as the budget has it. It returns the errors of Parse, and an error for a key that the budget
// does not have.
func (r *Release) WithBudget(key, amount string) (*Release, error) {
	numbers, err := r.Numbers()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(numbers, func(n Number) bool { return n.Of == key })
	if at < 0 || !slices.Contains(amountKeys, key) {
		return nil, fmt.Errorf("the budget has no %s", key)
	}
	source := r.Source
	source.Text = r.written[:numbers[at].From] + amount + r.written[numbers[at].To:]
	changed, err := Parse(source)
	if err != nil {
		return nil, err
	}
	return changed.WithWords(r.Words)
}
