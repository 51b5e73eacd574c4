// Package releasetest holds what tests of releases share: an office with a spec, rows and an account that pays, and how
// they look into a published folder. It imports nothing of the steps, so that their own tests can use it too.
package releasetest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// Office is a folder with a spec, data and a ledger with an account.
type Office struct {
	Dir    string
	Plan   *compiled.Compiled
	Ledger string // a file
}

// With makes an office with a spec, the policy of its account and rows.
func With(t *testing.T, spec, policy, rows string) Office {
	t.Helper()
	return Of(t, map[string]string{"release.yaml": spec, "policy.yaml": policy, "t.csv": rows})
}

// Of makes an office with files, among them release.yaml, its spec, and policy.yaml, the policy of its account.
func Of(t *testing.T, files map[string]string) Office {
	t.Helper()
	return WithParams(t, files, nil)
}

// WithParams is [Of] for a spec with parameters.
func WithParams(t *testing.T, files, params map[string]string) Office {
	t.Helper()
	return in(t, t.TempDir(), files, params).withLedger(t, "ledger.db", ledger.OpenOptions{})
}

// in makes an office in a folder, without a ledger.
func in(t *testing.T, dir string, files, params map[string]string) Office {
	t.Helper()
	o := Office{Dir: dir}
	for name, text := range files {
		path := filepath.Join(o.Dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	o.Plan = Plan(t, filepath.Join(o.Dir, "release.yaml"), params)
	return o
}

// Plan plans the spec in a file.
func Plan(t *testing.T, path string, params map[string]string) *compiled.Compiled {
	t.Helper()
	r, err := spec.Load(t.Context(), path, spec.Options{Params: params, Unpack: source.Unpack})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// WithAnotherLedger returns the office with a ledger that has paid nothing.
func (o Office) WithAnotherLedger(t *testing.T) Office {
	t.Helper()
	return o.withLedger(t, "another.db", ledger.OpenOptions{})
}

// withLedger opens the account of the office's policy in a ledger file.
func (o Office) withLedger(t *testing.T, name string, options ledger.OpenOptions) Office {
	t.Helper()
	o.Ledger = filepath.Join(o.Dir, name)
	path := filepath.Join(o.Dir, "policy.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := ledger.ParsePolicy(path, text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), o.Ledger, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Init(t.Context(), policy), l.Close()); err != nil {
		t.Fatal(err)
	}
	return o
}

// AskLedger calls do with the open ledger of the office.
func (o Office) AskLedger(t *testing.T, do func(ctx context.Context, l *ledger.Ledger) error) {
	t.Helper()
	l, err := ledger.OpenExisting(t.Context(), o.Ledger, ledger.OpenOptions{})
	if err == nil {
		err = errors.Join(do(t.Context(), l), l.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Account returns the statement of an account in the ledger.
func (o Office) Account(t *testing.T, name string) (s ledger.Statement) {
	t.Helper()
	o.AskLedger(t, func(ctx context.Context, l *ledger.Ledger) (err error) {
		s, err = l.Show(ctx, name)
		return err
	})
	return s
}

// Debits returns how often the account of trips was debited.
func (o Office) Debits(t *testing.T) int {
	t.Helper()
	n := 0
	for _, r := range o.Account(t, "trips").Releases {
		if r.State != ledger.Reserved && r.State != ledger.Cancelled {
			n++
		}
	}
	return n
}

// ExportTo exports the ledger to a file.
func (o Office) ExportTo(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	o.AskLedger(t, func(ctx context.Context, l *ledger.Ledger) error { return l.Export(ctx, &b) })
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Copied returns a copy of the whole office in a folder of its own.
func (o Office) Copied(t *testing.T) Office {
	t.Helper()
	to := Office{Dir: filepath.Join(t.TempDir(), "copy"), Plan: o.Plan}
	to.Ledger = filepath.Join(to.Dir, "ledger.db")
	if err := os.CopyFS(to.Dir, os.DirFS(o.Dir)); err != nil {
		t.Fatal(err)
	}
	states, err := filepath.Glob(filepath.Join(to.Dir, "out", ".dprelease*"))
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob(filepath.Join(to.Dir, "out", ".dprelease", "trips-*"))
	for _, dir := range append(states, more...) {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// NewKey makes a private key in a file, and its public key next to it in a file that ends in .pub.
func NewKey(t *testing.T, path string) sign.Key {
	t.Helper()
	if _, err := sign.Generate(path); err != nil {
		t.Fatal(err)
	}
	key, err := sign.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
