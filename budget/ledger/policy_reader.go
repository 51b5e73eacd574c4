package ledger

// The reader of a policy file: strict, with the place of every mistake.

import (
	"bytes"
	"cmp"
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
			return cmp.Or(a.Line-b.Line, a.Column-b.Column)
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
	if p.Line <= len(r.lines) && len(r.lines[p.Line-1]) <= maxSnippet {
		p.Snippet = strings.ReplaceAll(strings.TrimRight(r.lines[p.Line-1], "\r"), "\t", " ")
	}
	r.problems = append(r.problems, p)
}

func (r *policyReader) at(n *yaml.Node, path, format string, args ...any) {
	r.problem(n.Line, n.Column, path, format, args...)
}

// document returns the root of the only document, or nil with a problem.
func (r *policyReader) document(text []byte) *yaml.Node {
	if len(text) > maxPolicyBytes {
		r.lines = nil
		r.problem(1, 1, "", "a policy has at most %d bytes", maxPolicyBytes)
		return nil
	}
	var document, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decode(decoder, &document)
	if errors.Is(err, io.EOF) {
		r.problem(1, 1, "", "the file is empty; expected account, protects, neighbours and cap")
		return nil
	}
	if err == nil {
		err = decode(decoder, &more)
	}
	switch {
	case err == nil:
		r.at(&more, "", "a policy is one document; write a second account in a file of its own")
		return nil
	case !errors.Is(err, io.EOF):
		r.notYAML(err)
		return nil
	}
	return document.Content[0]
}

// decode is Decode with a panic of the YAML package made an error.
func decode(decoder *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it cannot be read")
		}
	}()
	return decoder.Decode(into)
}

var (
	yamlLine = regexp.MustCompile(`line (\d+): `)
	// yaml.v3 counts lines from 0 in what its parser says, and from 1 in what its scanner says.
	fromZero = regexp.MustCompile(`did not find expected (',' or |node content|key|'-' indicator|<)`)
)

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

// policy reads the root mapping, which has all of its keys.
func (r *policyReader) policy(root *yaml.Node) Policy {
	keys := []string{"account", "protects", "neighbours", "cap"}
	fields := r.mapping(root, "", keys)
	if fields == nil {
		return Policy{}
	}
	for _, key := range keys {
		if fields[key] == nil {
			r.at(root, "", "the key %s is missing", key)
		}
	}
	relations := []string{AddRemove, Replace}
	p := Policy{Account: r.scalar(fields["account"], "account"), Cap: r.cap(fields["cap"])}
	p.Terms = Terms{r.scalar(fields["protects"], "protects"), r.scalar(fields["neighbours"], "neighbours"), p.Cap.Definition()}
	if p.Account != "" && !namePattern.MatchString(p.Account) {
		r.at(fields["account"], "account", "%q is not an account name; expected %s", p.Account, nameRule)
	}
	if noun := p.Terms.Protects; noun != "" && (!nounPattern.MatchString(noun) || len(noun) > 100) {
		r.at(fields["protects"], "protects", "%q is not a noun; expected one such as person, patient or enterprise", noun)
	}
	if relation := p.Terms.Neighbours; relation != "" && !slices.Contains(relations, relation) {
		r.at(fields["neighbours"], "neighbours", "%q is not known; expected %s", relation, oneOf(relations, relation))
	}
	return p
}

// cap reads {epsilon}, {rho} or {rho, delta}.
func (r *policyReader) cap(n *yaml.Node) budget.Cost {
	fields := r.mapping(n, "cap", []string{"epsilon", "rho", "delta"})
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
	cost := budget.Cost{Epsilon: r.amount(epsilon, "cap.epsilon"), Rho: r.amount(rho, "cap.rho"), Delta: r.amount(delta, "cap.delta")}
	if cost.Delta != nil && cost.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		r.at(delta, "cap.delta", "δ is a probability; expected a number above 0 and below 1")
	}
	return cost
}

// amount reads a positive decimal or fraction, exactly; nil for nil or with a problem.
func (r *policyReader) amount(n *yaml.Node, path string) *big.Rat {
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

// mapping returns the values by key; nil for nil, or with a problem if n is no mapping. A key that is not known or
// comes twice is a problem.
func (r *policyReader) mapping(n *yaml.Node, path string, known []string) map[string]*yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind != yaml.MappingNode || plainly(n) != "":
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
			r.at(key, where, "unknown key; expected %s", oneOf(known, key.Value))
		case fields[key.Value] != nil:
			r.at(key, where, "the key comes twice; the first is on line %d", fields[key.Value].Line)
		default:
			fields[key.Value] = value
		}
	}
	return fields
}

// scalar returns the text of n as written; "" for nil, or with a problem if it has none.
func (r *policyReader) scalar(n *yaml.Node, path string) string {
	switch {
	case n == nil:
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

// list joins two names or more: "a, b or c".
func list(names []string, word string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// oneOf lists the names, and asks for the one that found differs from in one place, by at most two letters.
func oneOf(known []string, found string) string {
	text := list(known, "or")
	for _, name := range known {
		from, to := 0, 0
		for short := min(len(name), len(found)); from < short && name[from] == found[from]; {
			from++
		}
		for short := min(len(name), len(found)) - from; to < short && name[len(name)-1-to] == found[len(found)-1-to]; {
			to++
		}
		if same := from + to; same >= 2 && max(len(name), len(found))-same <= 2 {
			return fmt.Sprintf("%s; did you mean %q?", text, name)
		}
	}
	return text
}
