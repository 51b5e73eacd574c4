package ledger

// The policy of an account: what one unit of its budget means and how much there is. Never changed once opened.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/dprelease/dprelease/budget"
)

// Policy opens an account. Its definition of privacy loss is that of its cap.
type Policy struct {
	Account string
	Terms   Terms
	Cap     budget.Cost // positive; {Epsilon}, or {Rho} and perhaps Delta (absent: 0)
}

// check returns an error for a policy that no account can have.
func (p Policy) check() error {
	if !namePattern.MatchString(p.Account) {
		return fmt.Errorf("ledger: %q is not an account name: use %s", p.Account, nameRule)
	}
	if err := p.Terms.check(); err != nil {
		return fmt.Errorf("ledger: account %s: %w", p.Account, err)
	}
	if !spendable(p.Cap) || p.Cap.Definition() != p.Terms.Definition {
		return fmt.Errorf("ledger: account %s: the cap is not a positive amount in %s, in fractions of at most %d bits a side",
			p.Account, p.Terms.Definition, maxBits)
	}
	return nil
}

// PolicyError lists what is wrong with a policy file, at most 20 problems, in the order of the file.
type PolicyError struct{ Problems []PolicyProblem }

// PolicyProblem is one of them. Line and Column count from 1; Snippet is the line as written.
type PolicyProblem struct {
	File                   string
	Line, Column           int
	Path, Message, Snippet string // Path: "cap.epsilon"
}

// Error shows each problem as file:line:column, with the line and a caret.
func (e *PolicyError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.String()
	}
	return strings.Join(texts, "\n")
}

func (p PolicyProblem) String() string {
	path := p.Path
	if path != "" {
		path += ": "
	}
	text := fmt.Sprintf("%s:%d:%d: %s%s", p.File, p.Line, p.Column, path, p.Message)
	if p.Snippet == "" {
		return text
	}
	gutter := strconv.Itoa(p.Line)
	return fmt.Sprintf("%s\n  %s | %s\n  %s | %s^", text, gutter, p.Snippet,
		strings.Repeat(" ", len(gutter)), strings.Repeat(" ", max(0, p.Column-1)))
}

// Bounds on a policy file, which has four lines or so, and on what is said about it.
const (
	maxPolicyBytes = 1 << 14
	maxProblems    = 20
	maxSnippet     = 200 // bytes; a longer line is not shown
)

// ParsePolicy reads a policy written in YAML; name is the file's, for messages:
//
//	account: lfs-panel
//	protects: person
//	neighbours: add-remove    # or replace
//	cap: {epsilon: 6}         # or {rho: 1/2}, or {rho: 1/2, delta: 1e-6}
//
// It is strict: an unknown or repeated key, an alias, a second document or a value out of range is a *PolicyError.
func ParsePolicy(name string, text []byte) (Policy, error) {
	r := &policyReader{file: name, lines: strings.Split(string(text), "\n")}
	var p Policy
	if root := r.document(text); root != nil {
		p = r.policy(root)
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b PolicyProblem) int {
			if a.Line != b.Line {
				return a.Line - b.Line
			}
			return a.Column - b.Column
		})
		return Policy{}, &PolicyError{Problems: r.problems}
	}
	return p, nil
}

// policyReader collects the problems of one file.
type policyReader struct {
	file     string
	lines    []string
	problems []PolicyProblem
}

func (r *policyReader) problem(line, column int, path, format string, args ...any) {
	if len(r.problems) == maxProblems {
		return
	}
	p := PolicyProblem{File: r.file, Line: max(1, line), Column: max(1, column), Path: path, Message: fmt.Sprintf(format, args...)}
	if line >= 1 && line <= len(r.lines) && len(r.lines[line-1]) <= maxSnippet {
		p.Snippet = strings.ReplaceAll(strings.TrimRight(r.lines[line-1], "\r"), "\t", " ")
	}
	r.problems = append(r.problems, p)
}

func (r *policyReader) at(n *yaml.Node, path, format string, args ...any) {
	r.problem(n.Line, n.Column, path, format, args...)
}

var (
	yamlLine = regexp.MustCompile(`line (\d+): `)
	// yaml.v3 counts lines from 0 in what its parser says, and from 1 in what its scanner says.
	fromZero = regexp.MustCompile(`did not find expected (',' or |node content|key|'-' indicator|<document start>)`)
)

// document returns the root of the only document, or nil with a problem.
func (r *policyReader) document(text []byte) *yaml.Node {
	if len(text) > maxPolicyBytes {
		r.lines = nil
		r.problem(1, 1, "", "a policy has at most %d bytes", maxPolicyBytes)
		return nil
	}
	var document, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		r.problem(1, 1, "", "the file is empty; expected account, protects, neighbours and cap")
		return nil
	} else if err != nil {
		r.notYAML(err)
		return nil
	}
	if err := decoder.Decode(&more); err == nil {
		r.at(&more, "", "a policy is one document; write a second account in a file of its own")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.notYAML(err)
		return nil
	}
	return document.Content[0]
}

func (r *policyReader) notYAML(err error) {
	message, number := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		number, _ = strconv.Atoi(m[1])
		message = strings.Replace(message, m[0], "", 1)
		if fromZero.MatchString(message) {
			number++
		}
	}
	r.problem(number, 1, "", "this is not YAML: %s", message)
}

// policy reads the root mapping.
func (r *policyReader) policy(root *yaml.Node) Policy {
	fields := r.mapping(root, "", []string{"account", "protects", "neighbours", "cap"}, nil)
	var p Policy
	if n := fields["account"]; n != nil {
		if p.Account = r.scalar(n, "account"); p.Account != "" && !namePattern.MatchString(p.Account) {
			r.at(n, "account", "%q is not an account name; expected %s", p.Account, nameRule)
		}
	}
	if n := fields["protects"]; n != nil {
		if p.Terms.Protects = r.scalar(n, "protects"); p.Terms.Protects != "" &&
			(!nounPattern.MatchString(p.Terms.Protects) || len(p.Terms.Protects) > 100) {
			r.at(n, "protects", "%q is not a noun; expected one such as person, patient or enterprise", p.Terms.Protects)
		}
	}
	if n := fields["neighbours"]; n != nil {
		p.Terms.Neighbours = r.scalar(n, "neighbours")
		if known := []string{AddRemove, Replace}; p.Terms.Neighbours != "" && !slices.Contains(known, p.Terms.Neighbours) {
			r.at(n, "neighbours", "%q is not known; expected %s%s", p.Terms.Neighbours, list(known, "or"), nearest(p.Terms.Neighbours, known))
		}
	}
	if n := fields["cap"]; n != nil {
		p.Cap = r.cap(n)
		p.Terms.Definition = p.Cap.Definition()
	}
	return p
}

// cap reads {epsilon}, {rho} or {rho, delta}.
func (r *policyReader) cap(n *yaml.Node) budget.Cost {
	fields := r.mapping(n, "cap", nil, []string{"epsilon", "rho", "delta"})
	if fields == nil {
		return budget.Cost{}
	}
	epsilon, rho, delta := fields["epsilon"], fields["rho"], fields["delta"]
	switch {
	case epsilon != nil && (rho != nil || delta != nil):
		r.at(n, "cap", "a cap is in one definition; expected {epsilon: …}, {rho: …} or {rho: …, delta: …}")
		return budget.Cost{}
	case epsilon == nil && rho == nil:
		r.at(n, "cap", "the cap has no amount; expected {epsilon: …}, {rho: …} or {rho: …, delta: …}")
		return budget.Cost{}
	}
	return budget.Cost{
		Epsilon: r.amount(epsilon, "cap.epsilon"),
		Rho:     r.amount(rho, "cap.rho"),
		Delta:   r.delta(delta),
	}
}

func (r *policyReader) delta(n *yaml.Node) *big.Rat {
	d := r.amount(n, "cap.delta")
	if d != nil && d.Cmp(big.NewRat(1, 1)) >= 0 {
		r.at(n, "cap.delta", "δ is a probability; expected a number above 0 and below 1")
		return nil
	}
	return d
}

// amount reads a positive decimal or fraction, exactly; nil for nil or with a problem.
func (r *policyReader) amount(n *yaml.Node, path string) *big.Rat {
	if n == nil {
		return nil
	}
	text := r.scalar(n, path)
	if text == "" {
		return nil
	}
	v, err := budget.ParseRat(text)
	if err != nil || !spendable(budget.Cost{Epsilon: v}) {
		r.at(n, path, "%q is not a positive number; expected a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6", text)
		return nil
	}
	return v
}

// mapping returns the values by key, nil with a problem if n is no mapping. Required keys must be there; optional
// ones may; others, and a key that comes twice, are problems.
func (r *policyReader) mapping(n *yaml.Node, path string, required, optional []string) map[string]*yaml.Node {
	known := slices.Concat(required, optional)
	if n.Kind != yaml.MappingNode || plainly(n) != "" {
		r.at(n, path, "expected a mapping with the keys %s%s", list(known, "and"), plainly(n))
		return nil
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		where := strings.TrimPrefix(path+"."+key.Value, ".")
		switch {
		case key.Kind != yaml.ScalarNode || plainly(key) != "":
			r.at(key, path, "a key is a plain word; expected %s", list(known, "or"))
		case !slices.Contains(known, key.Value):
			r.at(key, where, "unknown key; expected %s%s", list(known, "or"), nearest(key.Value, known))
		case fields[key.Value] != nil:
			r.at(key, where, "the key comes twice; the first is on line %d", fields[key.Value].Line)
		default:
			fields[key.Value] = value
		}
	}
	for _, key := range required {
		if fields[key] == nil {
			r.at(n, path, "the key %s is missing", key)
		}
	}
	return fields
}

// scalar returns the text of n as written, "" with a problem if it has none.
func (r *policyReader) scalar(n *yaml.Node, path string) string {
	switch {
	case n.Kind != yaml.ScalarNode || plainly(n) != "":
		r.at(n, path, "expected one value%s", plainly(n))
	case n.ShortTag() == "!!null" || n.Value == "":
		r.at(n, path, "the value is missing")
	default:
		return n.Value
	}
	return ""
}

// plainly says which part of YAML n uses that a policy may not; "" if none.
func plainly(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode || n.ShortTag() == "!!merge":
		return "; aliases and merge keys are not allowed, write the value out"
	case n.Anchor != "":
		return "; anchors are not allowed"
	case n.Style&yaml.TaggedStyle != 0:
		return "; tags are not allowed"
	}
	return ""
}

// list joins names: "a, b or c".
func list(names []string, word string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// nearest is `; did you mean "x"?` for a known name that shares most of its beginning or is one or two edits away.
func nearest(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := edits(name, k); d < distance && d < len(k) {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// edits is the Levenshtein distance in bytes, 3 where the lengths differ by more than 2.
func edits(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
