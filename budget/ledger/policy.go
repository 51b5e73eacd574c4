package ledger

// The policy of an account: what one unit of its budget means and how much there is. Never changed once opened.

import (
	"fmt"
	"strconv"
	"strings"

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
