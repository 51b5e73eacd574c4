package ledger

// The reader of a policy file: strict, with the place of every mistake.

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
)

// Bounds on a policy file, which has a few lines, and on what is said about it.
const (
	maxPolicyBytes = 1 << 14
	maxProblems    = 20
)

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
	if len(text) > maxPolicyBytes {
		long := document.NewFindings(name, "")
		long.ReportAt(1, 1, "", document.Problem{Message: fmt.Sprintf("a policy of more than %d bytes", maxPolicyBytes),
			Expected: "a few lines"})
		return Policy{}, &PolicyError{document.Errors{Problems: long.Problems()}}
	}
	r := &policyReader{document.NewFindings(name, string(text))}
	var p Policy
	if root, ok := r.Read("account, protects, neighbours and cap",
		"one policy a file: a second account has a file of its own"); ok {
		shape.Check(r.Findings, policyShape(), root, nil)
		r.Spread(root.Value)
		p = r.policy(root)
	}
	if problems := r.Problems(); len(problems) > 0 {
		return Policy{}, &PolicyError{document.Errors{Problems: problems[:min(len(problems), maxProblems)]}}
	}
	return p, nil
}

// PolicyError lists what is wrong with a policy file, at most 20 problems, in the order of the file.
type PolicyError struct{ document.Errors }

// policyShape is what a policy may look like.
func policyShape() *shape.Shape {
	limit := shape.Object("{epsilon: …}, {rho: …} or {rho: …, delta: …}",
		shape.Field{Key: "epsilon", Shape: amountShape()},
		shape.Field{Key: "rho", Shape: amountShape()},
		shape.Field{Key: "delta", Shape: amountShape()},
	).WithForms([]string{"epsilon"}, []string{"rho"}, []string{"rho", "delta"})
	account := shape.Scalar("the name of an account: "+nameRule, namePattern.String())
	keys := shape.List("a list of keys, as [anna.pub]", shape.Scalar("a public key, or the file of one", `.`), 1, 0)
	roles := shape.Dictionary("each role with its keys, as {methodologist: [anna.pub]}", namePattern.String(), keys)
	roles.Least = 1
	return shape.Object("account, protects, neighbours and cap",
		shape.Field{Key: "account", Shape: account, Required: "the name of the account", Fix: "account: lfs-2026q1"},
		shape.Field{Key: "protects", Shape: shape.Scalar("a noun such as person, patient or enterprise, of at most 100 bytes",
			nounPattern.String()),
			Required: "the noun of what is protected", Fix: "protects: person"},
		shape.Field{Key: "neighbours", Shape: shape.Enum(AddRemove+" or "+Replace, AddRemove, Replace), Required: AddRemove +
			" or " + Replace},
		shape.Field{Key: "cap", Shape: limit, Required: "how much there is: {epsilon: …}, {rho: …} or {rho: …, delta: …}"},
		shape.Field{Key: "parent", Shape: account},
		shape.Field{Key: "allowance", Shape: shape.Object("{per: quarter, cap: {…}}",
			shape.Field{Key: "per", Shape: shape.Enum("year, quarter or month", string(Year), string(Quarter), string(Month)),
				Required: "year, quarter or month"},
			shape.Field{Key: "cap", Shape: limit, Required: "how much of the account's cap may be used in a period"})},
		shape.Field{Key: "approvals", Shape: roles},
		shape.Field{Key: "witness",
			Shape: shape.Scalar("an absolute path on another volume or host, as /mnt/safe/ledger.heads", `^(/|[A-Za-z]:[\\/])`)})
}

func amountShape() *shape.Shape {
	return shape.Scalar("a positive decimal or fraction such as 6, 0.5, 1/2 or 1e-6", `.`)
}

// policyReader reads what has the shape of a policy, and collects the problems.
type policyReader struct{ *document.Findings }

func (r *policyReader) problem(n document.Node, message, expected string) {
	r.Wrong(n, document.Problem{Message: message, Expected: expected})
}

// text is a scalar as written, "" where there is none or something is wrong with it.
func (r *policyReader) text(n document.Node) string {
	if !r.Sound(n) {
		return ""
	}
	return n.Text()
}

// policy reads the root mapping.
func (r *policyReader) policy(root document.Node) Policy {
	limit := root.Get("cap")
	p := Policy{Account: r.text(root.Get("account")), Parent: r.text(root.Get("parent")),
		Witness: r.text(root.Get("witness")), Cap: r.cap(limit)}
	p.Terms = Terms{r.text(root.Get("protects")), r.text(root.Get("neighbours")), p.Cap.Definition()}
	if n := root.Get("protects"); len(p.Terms.Protects) > 100 {
		r.problem(n, fmt.Sprintf("a noun of %d bytes", len(p.Terms.Protects)), "one of at most 100")
	}
	if p.Parent != "" && p.Parent == p.Account {
		r.problem(root.Get("parent"), "an account is not its own parent", "another that is open in the same ledger")
	}
	if n := root.Get("witness"); p.Witness != "" && !isSentence(p.Witness) {
		r.problem(n, fmt.Sprintf("the path %q is too long, or not of plain text", document.Clip(p.Witness)),
			"a path of at most 1000 bytes")
	}
	p.Allowance = r.allowance(root.Get("allowance"), p.Cap)
	p.Approvals = r.approvals(root.Get("approvals"))
	return p
}

// allowance reads {per, cap}, in the definition of the account's cap.
func (r *policyReader) allowance(n document.Node, whole budget.Cost) *Allowance {
	if !r.Sound(n) {
		return nil
	}
	a := &Allowance{Per: Period(n.Get("per").Text()), Cap: r.cap(n.Get("cap"))}
	if own, all := a.Cap.Definition(), whole.Definition(); own != "" && all != "" {
		switch {
		case own != all:
			r.problem(n.Get("cap"), fmt.Sprintf("the allowance is in %s and the cap in %s", own, all), "the same in both")
		case (a.Cap.Delta == nil) != (whole.Delta == nil):
			r.problem(n.Get("cap"), "one of allowance and cap has a delta and the other none", "a delta in both, or in neither")
		}
	}
	return a
}

// approvals reads the keys of each role.
func (r *policyReader) approvals(n document.Node) map[string][]sign.PublicKey {
	var roles map[string][]sign.PublicKey
	holder := map[sign.PublicKey]string{}
	for _, role := range r.Entries(n) {
		for _, item := range role.Items() {
			key, ok := r.key(item)
			if !ok {
				continue
			}
			if other, twice := holder[key]; twice {
				r.problem(item, "this key stands in the role "+other+" already", "every key in one role, once")
			}
			holder[key] = role.Key.Value
			if roles == nil {
				roles = map[string][]sign.PublicKey{}
			}
			roles[role.Key.Value] = append(roles[role.Key.Value], key)
		}
	}
	return roles
}

// key reads a public key: in one word, or in a file that lies beside the policy.
func (r *policyReader) key(n document.Node) (key sign.PublicKey, ok bool) {
	text := r.text(n)
	if text == "" {
		return key, false
	}
	var err error
	if strings.HasPrefix(text, "ed25519:") {
		key, err = sign.ParsePublicKey(text)
	} else {
		if !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(r.File), text)
		}
		key, err = sign.ReadPublicKey(text)
	}
	if err != nil {
		r.problem(n, "no public key: "+err.Error(), "a key as ed25519:…, or the file of one")
	}
	return key, err == nil && !key.IsZero()
}

// cap reads {epsilon}, {rho} or {rho, delta}.
func (r *policyReader) cap(n document.Node) budget.Cost {
	if !r.Sound(n) {
		return budget.Cost{}
	}
	cost := budget.Cost{Epsilon: r.amount(n.Get("epsilon")), Rho: r.amount(n.Get("rho")), Delta: r.amount(n.Get("delta"))}
	if cost.Delta != nil && cost.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		r.problem(n.Get("delta"), "δ is a probability", "a number above 0 and below 1")
	}
	return cost
}

// amount reads a positive decimal or fraction, exactly; nil where there is none, or with a problem.
func (r *policyReader) amount(n document.Node) *big.Rat {
	text := r.text(n)
	if text == "" {
		return nil
	}
	v, err := budget.ParseRat(text)
	if err != nil || !spendable(budget.Cost{Epsilon: v}) {
		r.problem(n, fmt.Sprintf("%q is not a positive number", document.Clip(text)),
			"a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6")
		return nil
	}
	return v
}
