package release

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// Options say where a step works.
type Options struct {
	Out    string // folder that every output is written below
	Data   string // folder that relative source paths start from
	Ledger string // the ledger file; empty: a practice account in the state directory
	State  string // confidential state directory; empty: .dprelease below Out
	Log    *slog.Logger
}

func (o Options) state() string {
	if o.State != "" {
		return o.State
	}
	return filepath.Join(o.Out, ".dprelease")
}

func (o Options) log() *slog.Logger {
	if o.Log != nil {
		return o.Log
	}
	return slog.New(slog.DiscardHandler)
}

// practiceReleases is how many releases of the first spec's size a practice
// account holds.
const practiceReleases = 3

// practiceAccount is the account of a spec that names none.
const practiceAccount = "practice"

// openLedger opens the configured ledger or, where there is none, a practice
// ledger whose account is made on first use.
func (o Options) openLedger(ctx context.Context, p *plan.Plan) (*ledger.Ledger, ledger.Charge, error) {
	charge := ledger.Charge{
		Account: p.Guarantee.Account, Release: p.Name, PlanHash: p.Hash(),
		Terms: terms(p), Cost: p.Cost,
	}
	if o.Ledger != "" {
		if charge.Account == "" {
			return nil, charge, &NoAccountNamed{Source: p.Source.Name}
		}
		l, err := ledger.OpenExisting(ctx, o.Ledger)
		return l, charge, err
	}
	if charge.Account == "" {
		charge.Account = practiceAccount
	}
	if err := os.MkdirAll(o.state(), 0o700); err != nil {
		return nil, charge, fmt.Errorf("state directory: %w", err)
	}
	l, err := ledger.Open(ctx, filepath.Join(o.state(), "practice.db"))
	if err != nil {
		return nil, charge, err
	}
	err = initPractice(ctx, l, charge)
	if err != nil && !errors.Is(err, ledger.ErrAccountExists) {
		l.Close()
		return nil, charge, err
	}
	return l, charge, nil
}

// initPractice opens the practice account of a charge, with room for a few like it.
func initPractice(ctx context.Context, l *ledger.Ledger, c ledger.Charge) error {
	limit := budget.Cost{}
	for range practiceReleases {
		var err error
		if limit, err = limit.Add(c.Cost); err != nil {
			return err
		}
	}
	return l.InitPractice(ctx, ledger.Policy{Account: c.Account, Terms: c.Terms, Cap: limit})
}

// terms are what a plan and its account must agree on.
func terms(p *plan.Plan) ledger.Terms {
	t := ledger.Terms{Protects: p.Guarantee.Protects, Neighbours: p.Guarantee.Neighbours, Definition: "rho"}
	if p.Cost.Epsilon != nil {
		t.Definition = "epsilon"
	}
	return t
}

// Load reads a spec and plans it.
func Load(specPath string, params map[string]string) (*plan.Plan, error) {
	r, err := spec.Load(specPath, params)
	var problems *spec.Errors
	if errors.As(err, &problems) {
		return nil, err
	}
	if err != nil {
		return nil, &SpecError{File: specPath, Err: err}
	}
	p, err := plan.New(r)
	if err != nil {
		return nil, &SpecError{File: specPath, Err: err}
	}
	return p, nil
}

// Plan writes a spec's plan to out/NAME.plan.json and returns it and its path.
func Plan(specPath string, params map[string]string, out string) (*plan.Plan, string, error) {
	p, err := Load(specPath, params)
	if err != nil {
		return nil, "", err
	}
	path, err := writePlan(p, out)
	return p, path, err
}

func writePlan(p *plan.Plan, out string) (string, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", fmt.Errorf("output folder: %w", err)
	}
	path := filepath.Join(out, p.Name+".plan.json")
	if err := replaceFile(path, p.Bytes()); err != nil {
		return "", fmt.Errorf("writing the plan: %w", err)
	}
	return path, nil
}
