package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// SpecFile is a spec as a command names it.
type SpecFile struct {
	Path   string
	Params map[string]string // values for its parameters
	Public []string          // folders, in addition to the spec's own, in which its public files may lie
	Data   string            // the folder that relative paths of sources start from; empty: the spec's own
}

// Load reads a spec and plans it. Errors: *[document.Errors], *[verdict.Unusable], and the context's.
func Load(ctx context.Context, s SpecFile) (*compiled.Compiled, error) {
	p, _, err := planner.Load(ctx, s.Path, s.options(), nil)
	return p, s.unusable(ctx, err)
}

// Load is [Load], and need not plan where a run in the same state directory has measured the spec before with other
// values of its parameters: see [Options.template].
func (o Options) Load(ctx context.Context, s SpecFile) (*compiled.Compiled, error) {
	var earlier *compiled.Compiled
	p, refilled, err := planner.Load(ctx, s.Path, s.options(), func(key string) *compiled.Compiled {
		earlier = o.template(ctx, s.Params, key)
		return earlier
	})
	if refilled {
		o.logger().Info("plan made from that of an earlier run", "release", p.Name, "earlier", earlier.Name)
	}
	return p, s.unusable(ctx, err)
}

// Plan writes a spec's plan to out/NAME.plan.json and returns it and its path.
func Plan(ctx context.Context, s SpecFile, out string) (*compiled.Compiled, string, error) {
	p, err := Load(ctx, s)
	if err != nil {
		return nil, "", err
	}
	path, err := writePlan(p, out)
	return p, path, err
}

// ofSpec works something out from a spec.
func ofSpec[T any](ctx context.Context, s SpecFile, work func(*spec.Release) (T, error)) (T, error) {
	var out T
	r, err := spec.Load(ctx, s.Path, s.options())
	if err == nil {
		out, err = work(r)
	}
	return out, s.unusable(ctx, err)
}

// options are what reading the spec takes.
func (s SpecFile) options() spec.Options {
	return spec.Options{Params: s.Params, Public: s.Public, Data: s.Data, Unpack: source.Unpack}
}

// unusable is an error about the spec, as a command tells it.
func (s SpecFile) unusable(ctx context.Context, err error) error {
	var problems *document.Errors
	if err == nil || errors.As(err, &problems) || ctx.Err() != nil {
		return err
	}
	return &verdict.Unusable{File: s.Path, Err: err}
}

// planPath is where a plan is written.
func planPath(p *compiled.Compiled, out string) string {
	return filepath.Join(out, p.Name+".plan.json")
}

func writePlan(p *compiled.Compiled, out string) (string, error) {
	path := planPath(p, out)
	if err := replaceFile(out, filepath.Base(path), p.Bytes()); err != nil {
		return "", fmt.Errorf("writing the plan: %w", err)
	}
	return path, nil
}

// mostPlan bounds the bytes of a plan file, which holds what is used of the spec's public files.
const mostPlan = 1 << 30

// mostAsked bounds the bytes of a file that a person writes or signs.
const mostAsked = 16 << 20

// ReadPlan reads a plan file and checks that the planner stands by it. Errors:
// *[NotAsSigned] where it was edited, *[verdict.Unusable].
func ReadPlan(ctx context.Context, path string) (*compiled.Compiled, error) {
	b, err := files.Read(ctx, path, mostPlan)
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
