package release

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
)

// InitAccount opens the account that a policy file describes.
func InitAccount(ctx context.Context, ledgerPath, policyPath string) (ledger.Policy, error) {
	text, err := os.ReadFile(policyPath)
	if err != nil {
		return ledger.Policy{}, &SpecError{File: policyPath, Err: err}
	}
	policy, err := ledger.ParsePolicy(filepath.Base(policyPath), text)
	if err != nil {
		return policy, &SpecError{File: policyPath, Err: err}
	}
	l, err := ledger.Open(ctx, ledgerPath)
	if err != nil {
		return policy, err
	}
	defer l.Close()
	return policy, l.Init(ctx, policy)
}

// Statements are the accounts of a ledger, or the named ones.
func Statements(ctx context.Context, ledgerPath string, accounts []string) ([]ledger.Statement, error) {
	l, err := ledger.OpenExisting(ctx, ledgerPath)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if len(accounts) == 0 {
		if accounts, err = l.Accounts(ctx); err != nil {
			return nil, err
		}
	}
	var all []ledger.Statement
	for _, name := range accounts {
		s, err := l.Show(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", name, err)
		}
		all = append(all, s)
	}
	return all, nil
}
