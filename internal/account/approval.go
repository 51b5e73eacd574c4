package account

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/template"
)

// This file writes and reads approvals, which people sign.

// maxInput is the greatest size, in bytes, of a file that a person writes or signs.
const maxInput = 16 << 20

const (
	// approvalEnd ends the names of approvals, which are in the folder of their plan.
	approvalEnd = ".approval.json"
	// maxApprovals is how many approvals a folder may hold.
	maxApprovals = 1000
)

// Approval is what a person signs about a plan.
type Approval struct {
	Role      string
	Statement string           // empty: the usual statement
	Standing  *ledger.Standing // nil: this plan alone
	Key       sign.Key
}

// Approve signs the plan of a file and writes the approval next to it. A standing approval is for the plan with blank
// parameters. If a ledger is configured, only a key that an account of the plan lists for the role may sign. Errors:
// *[verdict.Unusable] if the approval is not complete; *[UnauthorisedSigner], *[NoAccountNamed].
func (l Ledger) Approve(ctx context.Context, p *compiled.Compiled, planPath string, a Approval) (
	approval ledger.Approval, path string, err error) {
	if l.Path != "" {
		if err := l.checkSigner(ctx, p, a); err != nil {
			return approval, "", err
		}
	}
	words := p.Release().Words
	if words == nil {
		return approval, "", &verdict.Unusable{File: planPath, Err: plan.ErrNoWords}
	}
	approval = ledger.Approval{Plan: p.Hash(), Words: words.Hash(), Role: a.Role, Statement: a.Statement}
	middle := a.Role
	if a.Standing != nil {
		approval.Plan, approval.Standing = template.Hash(p.Plan()), a.Standing
		middle += ".standing"
	}
	if approval.Statement == "" {
		approval.Statement = usualStatement(a.Standing)
	}
	approval = approval.Signed(a.Key)
	if err := approval.Verify(); err != nil {
		return approval, "", &verdict.Unusable{File: planPath, Err: err}
	}
	signer, _, _ := strings.Cut(approval.Signer.Fingerprint(), " ") // somebody else's approval in this role is kept
	dir, name := filepath.Dir(planPath), p.Name+"."+middle+"."+signer+approvalEnd
	return approval, filepath.Join(dir, name), durable.ReplaceFile(dir, name, approval.Encode())
}

// checkSigner refuses a key that neither an account of the plan nor an account above one lists for the role.
func (l Ledger) checkSigner(ctx context.Context, p *compiled.Compiled, a Approval) error {
	if p.Guarantee.Account == "" {
		return &NoAccountNamed{Release: p.Name}
	}
	roles := map[string][]sign.PublicKey{}
	accounts := append([]string{p.Guarantee.Account}, p.Guarantee.FurtherAccounts...)
	for i := 0; i < len(accounts); i++ {
		asked, err := l.Statements(ctx, accounts[i:i+1])
		if err != nil {
			return err
		}
		for role, keys := range asked[0].Approvals {
			roles[role] = append(roles[role], keys...)
		}
		if parent := asked[0].Parent; parent != "" && !slices.Contains(accounts, parent) {
			accounts = append(accounts, parent)
		}
	}
	keys, known := roles[a.Role]
	switch {
	case len(roles) == 0:
		return &UnauthorisedSigner{fmt.Sprintf("account %s asks for no approvals: there is nothing to sign",
			p.Guarantee.Account)}
	case !known:
		names := slices.Sorted(maps.Keys(roles))
		return &UnauthorisedSigner{fmt.Sprintf("account %s asks for no approval as %q: its roles are %s",
			p.Guarantee.Account, a.Role, strings.Join(names, ", "))}
	case slices.Contains(keys, a.Key.Public()):
		return nil
	}
	said := fmt.Sprintf("account %s does not list this key (fingerprint %s) for the role %s", p.Guarantee.Account,
		a.Key.Public().Fingerprint(), a.Role)
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		if slices.Contains(roles[role], a.Key.Public()) {
			said += ", but for " + role
		}
	}
	return &UnauthorisedSigner{said + "; nothing was signed"}
}

// UnauthorisedSigner reports a key that cannot approve a plan in a role.
type UnauthorisedSigner struct{ said string }

func (e *UnauthorisedSigner) Error() string { return e.said }

// Verdict returns that another key has to sign.
func (*UnauthorisedSigner) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitSpec, Reason: verdict.WrongKeyGiven, Retry: verdict.Never}
}

// usualStatement returns what a signature attests if the signer states nothing else.
func usualStatement(standing *ledger.Standing) string {
	if standing == nil {
		return "I have read this plan with its words and agree that it be measured and published, once."
	}
	return "I have read this plan with its words and agree that it be measured and published with any parameters, " +
		"until the day and as often as stated."
}

// Approvals returns the approvals in a folder, for whatever plans: the account takes the ones that it requires.
// Errors: *[verdict.Unusable] for one that cannot be read.
func Approvals(dir string) ([]ledger.Approval, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for approvals: %w", err)
	}
	var all []ledger.Approval
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), approvalEnd) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if len(all) == maxApprovals {
			return nil, &verdict.Unusable{File: path,
				Err: fmt.Errorf("there are more than %d approvals here: move the ones of past releases away",
					maxApprovals)}
		}
		b, err := regular.Read(path, maxInput)
		if err != nil {
			return nil, &verdict.Unusable{File: path, Err: err}
		}
		a, err := ledger.ReadApproval(b)
		if err != nil {
			return nil, &verdict.Unusable{File: path, Err: err}
		}
		all = append(all, a)
	}
	return all, nil
}
