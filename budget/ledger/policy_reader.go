package ledger

// The reader of a policy file: strict, with the place of every mistake.

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/sign"
)

// Bounds on a policy file, which has a few lines, and on what is said about it.
const (
	maxPolicyBytes = 1 << 14
	maxProblems    = 20
	maxSnippet     = 200 // bytes; a longer line is not shown
)

// ReadPolicy reads a policy file; see [ParsePolicy].
func ReadPolicy(path string) (Policy, error) {
	text, err := regular.Read(path, maxPolicyBytes+1)
	if err != nil {
		return Policy{}, fmt.Errorf("policy: %w", err)
	}
	return ParsePolicy(path, text)
}

// ParsePolicy reads a policy written in YAML; name is the file's, for messages, and key files lie beside it:
//
//	account: lfs-2026q1
//	protects: person
//	neighbours: add-remove                                  # or replace
//	cap: {rho: 1/2, delta: 1e-6}                            # or {rho: 1/2}, or {epsilon: 6}
//	parent: lfs-register                                    # every debit here is one there too
//	allowance: {per: quarter, cap: {rho: 1/8, delta: 1e-7}} # or year, or month; nothing carries over
//	approvals: {methodologist: [anna.pub, bo.pub], officer: ["ed25519:…"]}
//	witness: /mnt/safe/ledger.heads                         # absolute
//
// The last four may be left out. It is strict: an unknown or repeated key, an alias, a second document or a value out
// of range is a *PolicyError.
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

// The keys of a policy: those it must have, and those it may have.
var (
	mustKeys = []string{"account", "protects", "neighbours", "cap"}
	mayKeys  = []string{"parent", "allowance", "approvals", "witness"}
)

// policy reads the root mapping.
func (r *policyReader) policy(root *yaml.Node) Policy {
	fields := r.mapping(root, "", slices.Concat(mustKeys, mayKeys))
	if fields == nil {
		return Policy{}
	}
	for _, key := range mustKeys {
		if fields[key] == nil {
			r.at(root, "", "the key %s is missing", key)
		}
	}
	relations := []string{AddRemove, Replace}
	p := Policy{Account: r.name(fields["account"], "account"), Cap: r.cap(fields["cap"], "cap")}
	p.Terms = Terms{r.scalar(fields["protects"], "protects"), r.scalar(fields["neighbours"], "neighbours"), p.Cap.Definition()}
	if noun := p.Terms.Protects; noun != "" && (!nounPattern.MatchString(noun) || len(noun) > 100) {
		r.at(fields["protects"], "protects", "%q is not a noun; expected one such as person, patient or enterprise", noun)
	}
	if relation := p.Terms.Neighbours; relation != "" && !slices.Contains(relations, relation) {
		r.at(fields["neighbours"], "neighbours", "%q is not known; expected %s", relation, oneOf(relations, relation))
	}
	if p.Parent = r.name(fields["parent"], "parent"); p.Parent != "" && p.Parent == p.Account {
		r.at(fields["parent"], "parent", "an account is not its own parent; expected another that is open in the same ledger")
	}
	p.Allowance = r.allowance(fields["allowance"], p.Cap)
	p.Approvals = r.approvals(fields["approvals"])
	p.Witness = r.scalar(fields["witness"], "witness")
	if p.Witness != "" && (!isAbsolute(p.Witness) || !isSentence(p.Witness)) {
		r.at(fields["witness"], "witness", "%q is not an absolute path; expected a file on another volume or host, such as /mnt/safe/ledger.heads", p.Witness)
	}
	return p
}

// name reads the name of an account.
func (r *policyReader) name(n *yaml.Node, path string) string {
	name := r.scalar(n, path)
	if name != "" && !namePattern.MatchString(name) {
		r.at(n, path, "%q is not an account name; expected %s", name, nameRule)
	}
	return name
}

// allowance reads {per, cap}, in the definition of the account's cap.
func (r *policyReader) allowance(n *yaml.Node, whole budget.Cost) *Allowance {
	fields := r.mapping(n, "allowance", []string{"per", "cap"})
	if fields == nil {
		return nil
	}
	for _, key := range []string{"per", "cap"} {
		if fields[key] == nil {
			r.at(n, "allowance", "the key %s is missing", key)
		}
	}
	periods := []string{string(Year), string(Quarter), string(Month)}
	per := r.scalar(fields["per"], "allowance.per")
	if per != "" && !slices.Contains(periods, per) {
		r.at(fields["per"], "allowance.per", "%q is not known; expected %s", per, oneOf(periods, per))
	}
	a := &Allowance{Per: Period(per), Cap: r.cap(fields["cap"], "allowance.cap")}
	if own, all := a.Cap.Definition(), whole.Definition(); own != "" && all != "" {
		switch {
		case own != all:
			r.at(fields["cap"], "allowance.cap", "the allowance is in %s and the cap in %s; expected the same", own, all)
		case (a.Cap.Delta == nil) != (whole.Delta == nil):
			r.at(fields["cap"], "allowance.cap", "one of allowance and cap has a delta and the other none; expected it in both, or in neither")
		}
	}
	return a
}

// approvals reads the keys of each role.
func (r *policyReader) approvals(n *yaml.Node) map[string][]sign.PublicKey {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 || plainly(n) != "" {
		r.at(n, "approvals", "expected a mapping from each role to its keys, such as {methodologist: [anna.pub]}%s", plainly(n))
		return nil
	}
	roles := map[string][]sign.PublicKey{}
	holder := map[sign.PublicKey]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		role, keys := r.scalar(n.Content[i], "approvals"), n.Content[i+1]
		path := "approvals." + role
		switch {
		case role == "":
			continue
		case !namePattern.MatchString(role):
			r.at(n.Content[i], path, "%q is not a role; expected %s", role, nameRule)
		case roles[role] != nil:
			r.at(n.Content[i], path, "the role comes twice; list all of its keys in one place")
		case keys.Kind != yaml.SequenceNode || len(keys.Content) == 0 || plainly(keys) != "":
			r.at(keys, path, "expected a list of keys, such as [anna.pub]%s", plainly(keys))
		}
		if keys.Kind != yaml.SequenceNode {
			continue
		}
		for _, k := range keys.Content {
			if key := r.key(k, path); !key.IsZero() {
				if other, twice := holder[key]; twice {
					r.at(k, path, "this key stands in the role %s already; expected every key in one role, once", other)
				}
				holder[key] = role
				roles[role] = append(roles[role], key)
			}
		}
	}
	return roles
}

// key reads a public key: in one word, or in a file that lies beside the policy.
func (r *policyReader) key(n *yaml.Node, path string) sign.PublicKey {
	text := r.scalar(n, path)
	if text == "" {
		return sign.PublicKey{}
	}
	key, err := sign.PublicKey{}, error(nil)
	if strings.HasPrefix(text, "ed25519:") {
		key, err = sign.ParsePublicKey(text)
	} else {
		if !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(r.file), text)
		}
		key, err = sign.ReadPublicKey(text)
	}
	if err != nil {
		r.at(n, path, "no public key: %v", err)
	}
	return key
}

// cap reads {epsilon}, {rho} or {rho, delta}.
func (r *policyReader) cap(n *yaml.Node, path string) budget.Cost {
	fields := r.mapping(n, path, []string{"epsilon", "rho", "delta"})
	if fields == nil {
		return budget.Cost{}
	}
	epsilon, rho, delta := fields["epsilon"], fields["rho"], fields["delta"]
	switch {
	case epsilon != nil && (rho != nil || delta != nil):
		r.at(n, path, "a cap is in one definition; expected {epsilon: …}, {rho: …} or {rho: …, delta: …}")
		return budget.Cost{}
	case epsilon == nil && rho == nil:
		r.at(n, path, "the cap has no amount; expected {epsilon: …}, {rho: …} or {rho: …, delta: …}")
		return budget.Cost{}
	}
	cost := budget.Cost{Epsilon: r.amount(epsilon, path+".epsilon"), Rho: r.amount(rho, path+".rho"), Delta: r.amount(delta, path+".delta")}
	if cost.Delta != nil && cost.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		r.at(delta, path+".delta", "δ is a probability; expected a number above 0 and below 1")
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
