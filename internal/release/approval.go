package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/sign"
	"github.com/dprelease/dprelease/plan"
)

const (
	// approvalEnd ends the names of approvals, which lie beside their plan.
	approvalEnd = ".approval.json"
	// maxApprovals is how many of them a folder may hold.
	maxApprovals = 1000
	// approvalsFile is where the approvals of a release are published.
	approvalsFile = "approvals.json"
)

// Approval is what a person signs below a plan.
type Approval struct {
	Role      string
	Statement string           // empty: what the role of a signature usually means
	Standing  *ledger.Standing // nil: this plan alone
	Key       sign.Key
}

// Approve signs the plan in a file and writes the approval beside it. A standing
// approval is of the plan with its parameters blank. Errors: *[SpecError] where the
// plan cannot be used or the approval is not complete.
func Approve(planPath string, a Approval) (p *plan.Plan, approval ledger.Approval, path string, err error) {
	if p, err = ReadPlan(planPath); err != nil {
		return nil, approval, "", err
	}
	approval = ledger.Approval{Plan: p.Hash(), Role: a.Role, Statement: a.Statement}
	middle := a.Role
	if a.Standing != nil {
		approval.Plan, approval.Standing = p.Template(), a.Standing
		middle += ".standing"
	}
	if approval.Statement == "" {
		approval.Statement = usualStatement(a.Standing)
	}
	approval = approval.Signed(a.Key)
	if err := approval.Verify(); err != nil {
		return nil, approval, "", &SpecError{File: planPath, Err: err}
	}
	signer, _, _ := strings.Cut(approval.Signer.Fingerprint(), " ") // another's approval in this role stays
	dir, name := filepath.Dir(planPath), p.Name+"."+middle+"."+signer+approvalEnd
	return p, approval, filepath.Join(dir, name), replaceFile(dir, name, approval.Encode())
}

// usualStatement is what a signature attests where the signer says nothing else.
func usualStatement(standing *ledger.Standing) string {
	if standing == nil {
		return "I have read this plan and agree that it be measured and published, once."
	}
	return "I have read this plan and agree that it be measured and published with any parameters, until the day and as often as stated."
}

// approvals are those in a folder, of whatever plans: the account takes the ones
// that it asks for. Errors: *[SpecError] for one that cannot be read.
func approvals(dir string) ([]ledger.Approval, error) {
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
			return nil, &SpecError{File: path, Err: fmt.Errorf("there are more than %d approvals here: move those of past releases away", maxApprovals)}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, &SpecError{File: path, Err: err}
		}
		a, err := ledger.ReadApproval(b)
		if err != nil {
			return nil, &SpecError{File: path, Err: err}
		}
		all = append(all, a)
	}
	return all, nil
}

// NotAsSigned is a plan file that nobody can have approved: it was edited.
type NotAsSigned struct {
	File string
	Err  error
}

func (e *NotAsSigned) Error() string { return fmt.Sprintf("%s: %s", e.File, e.Err) }
func (e *NotAsSigned) Unwrap() error { return e.Err }
