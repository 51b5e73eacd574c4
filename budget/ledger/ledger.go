// Package ledger is the durable account of privacy loss of a confidential population.
package ledger

import (
	"context"
	"errors"

	"github.com/dprelease/dprelease/budget"
)

var errNotBuilt = errors.New("ledger: not built yet")

// Ledger holds accounts.
type Ledger struct{}

// Policy opens an account.
type Policy struct {
	Account string
	Terms   Terms
	Cap     budget.Cost
}

// Statement is what Show tells of an account.
type Statement struct{}

// ParsePolicy reads a policy file.
func ParsePolicy(name string, text []byte) (Policy, error) { return Policy{}, errNotBuilt }

// Open opens or creates a ledger.
func Open(ctx context.Context, path string) (*Ledger, error) { return nil, errNotBuilt }

// OpenRehearsal opens a ledger in memory.
func OpenRehearsal() *Ledger { return &Ledger{} }

func (l *Ledger) Close() error                                         { return nil }
func (l *Ledger) Init(ctx context.Context, p Policy) error             { return errNotBuilt }
func (l *Ledger) InitPractice(ctx context.Context, p Policy) error     { return errNotBuilt }
func (l *Ledger) Accounts(ctx context.Context) ([]string, error)       { return nil, errNotBuilt }
func (l *Ledger) Reserve(ctx context.Context, c Charge) error          { return errNotBuilt }
func (l *Ledger) Cancel(ctx context.Context, c Charge) error           { return errNotBuilt }
func (l *Ledger) Debit(ctx context.Context, c Charge) (Receipt, error) { return Receipt{}, errNotBuilt }
func (l *Ledger) Verify(ctx context.Context) error                     { return errNotBuilt }
func (l *Ledger) Show(ctx context.Context, account string) (Statement, error) {
	return Statement{}, errNotBuilt
}
