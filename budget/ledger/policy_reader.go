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

// Bounds on the size of a policy file, which has a few lines, and on the number of problems reported.
const (
	maxPolicyBytes = 1 << 14
	maxProblems    = 20
)

// ParsePolicy reads a policy written in YAML. The name of the file appears in messages, and relative paths of key files
// start from its folder:
//
//	account: lfs-2026q1
//	protects: person
//	neighbours: add-remove                                  # or replace
//	cap: {rho: 1/2, delta: 1e-6}                            # or {rho: 1/2}, or {epsilon: 6}
//	parent: lfs-register                                    # every debit here counts there too
//	allowance: {per: quarter, cap: {rho: 1/8, delta: 1e-7}} # or year, or month; nothing carries over
//	approvals: {methodologist: [anna.pub, bo.pub], officer: ["ed25519:…"]}
//	witness: /mnt/safe/ledger.heads                         # absolute
//
// The last four keys may be left out. ParsePolicy is strict: an unknown or repeated key, an alias, a second document or
// a value out of range is a *PolicyError.
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
		r.SpreadMarks(root.Value)
		p = r.readPolicy(root)
	}
	if problems := r.Problems(); len(problems) > 0 {
		return Policy{}, &PolicyError{document.Errors{Problems: problems[:min(len(problems), maxProblems)]}}
	}
	return p, nil
}

// PolicyError lists what is wrong with a policy file, at most 20 problems, in the order of the file.
type PolicyError struct{ document.Errors }

// policyShape returns the permitted structure of a policy.
func policyShape() *shape.Shape {
	limit := shape.Object("{epsilon: …}, {rho: …} or {rho: …, delta: …}",
		shape.Field{Key: "epsilon", Shape: amountShape()},
		shape.Field{Key: "rho", Shape: amountShape()},
		shape.Field{Key: "delta", Shape: amountShape()},
	).WithForms([]string{"epsilon"}, []string{"rho"}, []string{"rho", "delta"},
		[]string{"epsilon", "delta"}). // which readCap refuses, with the ρ to write in its place
		WithMessage("exactly one of: epsilon; rho; rho with delta")
	account := shape.Scalar("the name of an account: "+nameRule, namePattern.String())
	keys := shape.List("a list of keys, such as [anna.pub]", shape.Scalar("a public key, or the file of one", `.`), 1,
		0)
	roles := shape.Dictionary("each role with its keys, such as {methodologist: [anna.pub]}", namePattern.String(),
		keys)
	roles.Least = 1
	return shape.Object("account, protects, neighbours and cap",
		shape.Field{Key: "account", Shape: account, Required: "the name of the account", Fix: "account: lfs-2026q1"},
		shape.Field{Key: "protects", Shape: shape.Scalar(
			"a noun such as person, patient or enterprise, of at most 100 bytes",
			nounPattern.String()),
			Required: "the noun of what is protected", Fix: "protects: person"},
		shape.Field{Key: "neighbours", Shape: shape.Enum(AddRemove+" or "+Replace, AddRemove, Replace),
			Required: AddRemove +
				" or " + Replace},
		shape.Field{Key: "cap", Shape: limit, Required: "how much there is: {epsilon: …}, {rho: …} or {rho: …, " +
			"delta: …}"},
		shape.Field{Key: "parent", Shape: account},
		shape.Field{Key: "allowance", Shape: shape.Object("{per: quarter, cap: {…}}",
			shape.Field{Key: "per", Shape: shape.Enum("year, quarter or month", string(Year), string(Quarter),
				string(Month)),
				Required: "year, quarter or month"},
			shape.Field{Key: "cap", Shape: limit, Required: "how much of the account's cap may be used in a period"})},
		shape.Field{Key: "approvals", Shape: roles},
		shape.Field{Key: "witness",
			Shape: shape.Scalar("an absolute path on another volume or host, as /mnt/safe/ledger.heads",
				`^(/|[A-Za-z]:[\\/])`)})
}

func amountShape() *shape.Shape {
	return shape.Scalar("a positive decimal or fraction such as 6, 0.5, 1/2 or 1e-6", `.`)
}

// policyReader reads a document with the structure of a policy, and collects the problems.
type policyReader struct{ *document.Findings }

func (r *policyReader) reportProblem(n document.Node, message, expected string) {
	r.AddProblem(n, document.Problem{Message: message, Expected: expected})
}

// scalarText returns a scalar as written, or "" if it is missing or invalid.
func (r *policyReader) scalarText(n document.Node) string {
	if !r.IsSound(n) {
		return ""
	}
	return n.Text()
}

// readPolicy reads the root mapping.
func (r *policyReader) readPolicy(root document.Node) Policy {
	limit := root.Get("cap")
	p := Policy{Account: r.scalarText(root.Get("account")), Parent: r.scalarText(root.Get("parent")),
		Witness: r.scalarText(root.Get("witness")), Cap: r.readCap(limit)}
	p.Terms = Terms{r.scalarText(root.Get("protects")), r.scalarText(root.Get("neighbours")), p.Cap.Definition()}
	if n := root.Get("protects"); len(p.Terms.Protects) > 100 {
		r.reportProblem(n, fmt.Sprintf("a noun of %d bytes", len(p.Terms.Protects)), "one of at most 100")
	}
	if p.Parent != "" && p.Parent == p.Account {
		r.reportProblem(root.Get("parent"), "an account is not its own parent",
			"another that is open in the same ledger")
	}
	if n := root.Get("witness"); p.Witness != "" && !isOneLine(p.Witness) {
		r.reportProblem(n, fmt.Sprintf("the path %q is too long, or not of plain text", document.Clip(p.Witness)),
			"a path of at most 1000 bytes")
	}
	p.Allowance = r.readAllowance(root.Get("allowance"), p.Cap)
	p.Approvals = r.readApprovals(root.Get("approvals"))
	return p
}

// readAllowance reads {per, cap}, in the definition of the account's cap.
func (r *policyReader) readAllowance(n document.Node, whole budget.Cost) *Allowance {
	if !r.IsSound(n) {
		return nil
	}
	a := &Allowance{Per: Period(n.Get("per").Text()), Cap: r.readCap(n.Get("cap"))}
	if own, all := a.Cap.Definition(), whole.Definition(); own != "" && all != "" {
		switch {
		case own != all:
			r.reportProblem(n.Get("cap"), fmt.Sprintf("the allowance is in %s and the cap in %s", own, all),
				"the same in both")
		case (a.Cap.Delta == nil) != (whole.Delta == nil):
			r.reportProblem(n.Get("cap"), "one of allowance and cap has a delta and the other none",
				"a delta in both, or in neither")
		}
	}
	return a
}

// readApprovals reads the keys of each role.
func (r *policyReader) readApprovals(n document.Node) map[string][]sign.PublicKey {
	var roles map[string][]sign.PublicKey
	holder := map[sign.PublicKey]string{}
	for _, role := range r.Entries(n) {
		for _, item := range role.Items() {
			key, ok := r.readKey(item)
			if !ok {
				continue
			}
			if other, twice := holder[key]; twice {
				r.reportProblem(item, "this key stands in the role "+other+" already", "every key in one role, once")
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

// readKey reads a public key, given as text or as a file relative to the policy's folder.
func (r *policyReader) readKey(n document.Node) (key sign.PublicKey, ok bool) {
	text := r.scalarText(n)
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
		r.reportProblem(n, "no public key: "+err.Error(), "a key as ed25519:…, or the file of one")
	}
	return key, err == nil && !key.IsZero()
}

// readCap reads {epsilon}, {rho} or {rho, delta}.
func (r *policyReader) readCap(n document.Node) budget.Cost {
	if !r.IsSound(n) {
		return budget.Cost{}
	}
	cost := budget.Cost{Epsilon: r.readAmount(n.Get("epsilon")), Rho: r.readAmount(n.Get("rho")),
		Delta: r.readAmount(n.Get("delta"))}
	if cost.Delta != nil && cost.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		r.reportProblem(n.Get("delta"), "δ is a probability", "a number above 0 and below 1")
	} else if cost.Epsilon != nil && cost.Delta != nil {
		r.refuseApproximate(n, cost)
		return budget.Cost{}
	}
	return cost
}

// refuseApproximate reports a cap in ε and δ. Releases that are chosen one after another add up in ρ, and not in ε and
// δ as tightly.
func (r *policyReader) refuseApproximate(n document.Node, c budget.Cost) {
	p := document.Problem{
		Message:  "epsilon, delta do not go together: an account adds up ρ, or ε of releases without a δ",
		Expected: "exactly one of: epsilon; rho; rho with delta",
	}
	if rho, err := budget.DecimalRho(c.Epsilon, c.Delta); err == nil {
		text := budget.Decimal(rho)
		p.Expected = fmt.Sprintf("the ρ that promises ε = %s at δ = %s, whatever releases add up to it: %s",
			n.Get("epsilon").Text(), n.Get("delta").Text(), text)
		p.Fix = fmt.Sprintf("%s: {rho: %s}", n.Key.Value, text)
	}
	r.Report(n.Heading(), n.Path, p)
}

// readAmount reads a positive decimal or fraction, exactly. It returns nil if there is none or it is invalid.
func (r *policyReader) readAmount(n document.Node) *big.Rat {
	text := r.scalarText(n)
	if text == "" {
		return nil
	}
	v, err := budget.ParseRat(text)
	if err != nil || !isSpendable(budget.Cost{Epsilon: v}) {
		r.reportProblem(n, fmt.Sprintf("%q is not a positive number", document.Clip(text)),
			"a decimal or a fraction such as 6, 0.5, 1/2 or 1e-6")
		return nil
	}
	return v
}
