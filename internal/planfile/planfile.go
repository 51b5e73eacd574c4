// Package planfile makes plans from the specs that a command names, and reads and writes plan files. It touches no
// confidential file and no ledger, and of the steps of a release it knows only planning, from which every step starts.
package planfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/progress"
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
	Params map[string]string // values of the spec's parameters
	Public []string          // folders for the spec's public files, in addition to the spec's own
	Data   string            // base folder of relative source paths; empty: the spec's own
}

// Load reads a spec and plans it. Errors: *[document.Errors], *[verdict.Unusable], and the context's.
func Load(ctx context.Context, s Spec) (*compiled.Compiled, error) {
	p, _, err := LoadReusing(ctx, s, nil)
	return p, err
}

// LoadSpec reads a spec without planning it. Errors: as [Load].
func LoadSpec(ctx context.Context, s Spec) (*spec.Release, error) {
	return loadSpec(ctx, s, func(r *spec.Release) (*spec.Release, error) { return r, nil })
}

// LoadReusing is [Load], but need not plan if earlier returns a plan of the same spec with other values of its
// parameters, by the key of both. It reports in refilled whether the plan is that one with the new values.
func LoadReusing(ctx context.Context, s Spec, earlier func(key string) *compiled.Compiled) (p *compiled.Compiled,
	refilled bool, err error) {
	ctx = progress.Begin(ctx, 0, "planning")
	p, refilled, err = planner.Load(ctx, s.Path, s.specOptions(), earlier)
	return p, refilled, s.asUnusable(ctx, err)
}

// Make writes a spec's plan to out/NAME.plan.json, and its words next to it, and returns it and its path.
func Make(ctx context.Context, s Spec, out string) (*compiled.Compiled, string, error) {
	p, err := Load(ctx, s)
	if err != nil {
		return nil, "", err
	}
	path, err := Write(p, out)
	return p, path, err
}

// loadSpec reads a spec and returns what work makes of it.
func loadSpec[T any](ctx context.Context, s Spec, work func(*spec.Release) (T, error)) (T, error) {
	var out T
	r, err := spec.Load(ctx, s.Path, s.specOptions())
	if err == nil {
		out, err = work(r)
	}
	return out, s.asUnusable(ctx, err)
}

// specOptions returns the options for reading the spec.
func (s Spec) specOptions() spec.Options {
	return spec.Options{Params: s.Params, Public: s.Public, Data: s.Data, Unpack: source.Unpack}
}

// asUnusable converts an error to one about the spec, unless it is one already or the context ended.
func (s Spec) asUnusable(ctx context.Context, err error) error {
	if err == nil || verdict.Has[*document.Errors](err) || ctx.Err() != nil {
		return err
	}
	return &verdict.Unusable{File: s.Path, Err: err}
}

// Path returns where a plan is written.
func Path(p *compiled.Compiled, out string) string {
	return filepath.Join(out, p.Name+planEnd)
}

// WordsPath returns the file of the words of a plan file, "" if that is not called NAME.plan.json.
func WordsPath(plan string) string {
	if name, ok := strings.CutSuffix(plan, planEnd); ok {
		return name + wordsEnd
	}
	return ""
}

// The ends of the names of a plan file and of the file of its words, which is next to it.
const (
	planEnd  = ".plan.json"
	wordsEnd = ".words.json"
)

// Write writes a plan and its words below a folder, and returns the path of the plan.
func Write(p *compiled.Compiled, out string) (string, error) {
	path := Path(p, out)
	if p.Release().Words == nil {
		return "", &verdict.Unusable{File: path, Err: plan.ErrNoWords}
	}
	if err := durable.ReplaceFile(out, filepath.Base(WordsPath(path)), p.Release().Words.Bytes()); err != nil {
		return "", fmt.Errorf("writing the words of the plan: %w", err)
	}
	if err := durable.ReplaceFile(out, filepath.Base(path), p.Bytes()); err != nil {
		return "", fmt.Errorf("writing the plan: %w", err)
	}
	return path, nil
}

// MaxBytes is the greatest size, in bytes, of a plan file, which holds what is used of the spec's public files.
const MaxBytes = 1 << 30

// Read reads a plan file and checks that the planner makes the same plan from its spec. The plan has the words of the
// file next to it, none if there is no such file. Errors: *[NotAsSigned] if it was edited, *[verdict.Unusable].
func Read(ctx context.Context, path string) (*compiled.Compiled, error) {
	b, err := files.Read(ctx, path, MaxBytes)
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
			Err: errors.New(
				"this is not a plan, which is JSON: if it is a spec, `dprelease plan SPEC` writes its plan to " +
					"NAME.plan.json")}
	}
	progress.Begin(ctx, 0, "checking the plan %s", path)
	p, err := planner.Read(b)
	if errors.Is(err, plan.ErrEdited) {
		return nil, &NotAsSigned{File: path, Err: err}
	}
	if err != nil {
		return nil, &verdict.Unusable{File: path, Err: err}
	}
	beside := WordsPath(path)
	if there, err := durable.Exists(beside); beside == "" || err != nil || !there {
		return p, err
	}
	words, err := ReadWords(ctx, beside)
	if err != nil {
		return nil, err
	}
	if p, err = p.WithWords(words); err != nil {
		return nil, &verdict.Unusable{File: beside, Err: err}
	}
	return p, nil
}

// ReadWords reads a file of words. Errors: *[verdict.Unusable].
func ReadWords(ctx context.Context, path string) (*spec.Words, error) {
	b, err := files.Read(ctx, path, MaxBytes)
	if err != nil {
		return nil, &verdict.Unusable{File: path, Err: err}
	}
	words, err := spec.ReadWords(b)
	if err != nil {
		return nil, &verdict.Unusable{File: path, Err: err}
	}
	return words, nil
}

// NotAsSigned reports a plan file that was edited, so that nobody can have approved it.
type NotAsSigned struct {
	File string
	Err  error
}

func (e *NotAsSigned) Error() string { return fmt.Sprintf("%s: %s", e.File, e.Err) }
func (e *NotAsSigned) Unwrap() error { return e.Err }

// Verdict returns that the plan has to be made and approved again.
func (*NotAsSigned) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitApproval, Reason: verdict.EditedPlan, Retry: verdict.Never}
}
