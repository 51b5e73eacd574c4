// Package planfile makes plans of the specs that a command names, and reads and writes the files that plans lie in. It
// touches no confidential file and asks no ledger, and knows no step but this one, which every step starts from.
package planfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// Spec is a spec as a command names it.
type Spec struct {
	Path   string
	Params map[string]string // values for its parameters
	Public []string          // folders, in addition to the spec's own, in which its public files may lie
	Data   string            // the folder that relative paths of sources start from; empty: the spec's own
}

// Load reads a spec and plans it. Errors: *[document.Errors], *[verdict.Unusable], and the context's.
func Load(ctx context.Context, s Spec) (*compiled.Compiled, error) {
	p, _, err := LoadLike(ctx, s, nil)
	return p, err
}

// LoadSpec reads a spec, and does not plan it. Errors: as of [Load].
func LoadSpec(ctx context.Context, s Spec) (*spec.Release, error) {
	return ofSpec(ctx, s, func(r *spec.Release) (*spec.Release, error) { return r, nil })
}

// LoadLike is [Load], and need not plan where earlier returns a plan of the same spec with other values of its
// parameters, by the key of both: refilled reports whether the plan is that one with its own values.
func LoadLike(ctx context.Context, s Spec, earlier func(key string) *compiled.Compiled) (p *compiled.Compiled,
	refilled bool, err error) {
	p, refilled, err = planner.Load(ctx, s.Path, s.options(), earlier)
	return p, refilled, s.unusable(ctx, err)
}

// Make writes a spec's plan to out/NAME.plan.json and returns it and its path.
func Make(ctx context.Context, s Spec, out string) (*compiled.Compiled, string, error) {
	p, err := Load(ctx, s)
	if err != nil {
		return nil, "", err
	}
	path, err := Write(p, out)
	return p, path, err
}

// ofSpec works something out from a spec.
func ofSpec[T any](ctx context.Context, s Spec, work func(*spec.Release) (T, error)) (T, error) {
	var out T
	r, err := spec.Load(ctx, s.Path, s.options())
	if err == nil {
		out, err = work(r)
	}
	return out, s.unusable(ctx, err)
}

// options are what reading the spec takes.
func (s Spec) options() spec.Options {
	return spec.Options{Params: s.Params, Public: s.Public, Data: s.Data, Unpack: source.Unpack}
}

// unusable is an error about the spec, as a command tells it.
func (s Spec) unusable(ctx context.Context, err error) error {
	if err == nil || verdict.Has[*document.Errors](err) || ctx.Err() != nil {
		return err
	}
	return &verdict.Unusable{File: s.Path, Err: err}
}

// Path is where a plan is written.
func Path(p *compiled.Compiled, out string) string {
	return filepath.Join(out, p.Name+".plan.json")
}

// Write writes a plan to its place below a folder, and returns its path.
func Write(p *compiled.Compiled, out string) (string, error) {
	path := Path(p, out)
	if err := durable.ReplaceFile(out, filepath.Base(path), p.Bytes()); err != nil {
		return "", fmt.Errorf("writing the plan: %w", err)
	}
	return path, nil
}

// Most bounds the bytes of a plan file, which holds what is used of the spec's public files.
const Most = 1 << 30

// Read reads a plan file and checks that the planner stands by it. Errors:
// *[NotAsSigned] where it was edited, *[verdict.Unusable].
func Read(ctx context.Context, path string) (*compiled.Compiled, error) {
	b, err := files.Read(ctx, path, Most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &verdict.Unusable{File: path,
			Err: errors.New("there is no such plan file: `dprelease plan SPEC` writes one to NAME.plan.json")}
	case errors.Is(err, regular.ErrNotRegular):
		return nil, &verdict.Unusable{File: path,
			Err: errors.New("this is no file, and so no plan: `dprelease plan SPEC` writes a plan to NAME.plan.json")}
	case err != nil:
		return nil, &verdict.Unusable{File: path, Err: err}
	}
	if text := bytes.TrimSpace(b); len(text) == 0 || text[0] != '{' {
		return nil, &verdict.Unusable{File: path,
			Err: errors.New("this is not a plan, which is JSON: if it is a spec, `dprelease plan SPEC` writes its plan to NAME.plan.json")}
	}
	p, err := planner.Read(b)
	if errors.Is(err, plan.ErrEdited) {
		return nil, &NotAsSigned{File: path, Err: err}
	}
	if err != nil {
		return nil, &verdict.Unusable{File: path, Err: err}
	}
	return p, nil
}

// NotAsSigned is a plan file that nobody can have approved: it was edited.
type NotAsSigned struct {
	File string
	Err  error
}

func (e *NotAsSigned) Error() string { return fmt.Sprintf("%s: %s", e.File, e.Err) }
func (e *NotAsSigned) Unwrap() error { return e.Err }

// Verdict says that the plan has to be made and approved again.
func (*NotAsSigned) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitApproval, Reason: verdict.EditedPlan, Retry: verdict.Never}
}
