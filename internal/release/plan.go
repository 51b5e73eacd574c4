package release

// This file holds the first step: from a spec, or from a plan file, to a plan.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/plan"
)

// Load reads a spec and plans it.
func Load(specPath string, params map[string]string) (*plan.Plan, error) {
	return ofSpec(specPath, params, plan.New)
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

// planPath is where a plan is written.
func planPath(p *plan.Plan, out string) string { return filepath.Join(out, p.Name+".plan.json") }

func writePlan(p *plan.Plan, out string) (string, error) {
	path := planPath(p, out)
	if err := replaceFile(out, filepath.Base(path), p.Bytes()); err != nil {
		return "", fmt.Errorf("writing the plan: %w", err)
	}
	return path, nil
}

// ReadPlan reads a plan file and checks that the planner stands by it. Errors:
// *[NotAsSigned] where it was edited, *[SpecError].
func ReadPlan(path string) (*plan.Plan, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, &SpecError{File: path, Err: err}
	}
	if text := bytes.TrimSpace(b); len(text) > 0 && text[0] != '{' {
		return nil, &SpecError{File: path, Err: errors.New("this is not a plan, which is JSON: if it is a spec, `dprelease plan SPEC` writes its plan to NAME.plan.json")}
	}
	p, err := plan.Read(b)
	if err == nil {
		err = p.Verify()
	}
	if errors.Is(err, plan.ErrEdited) {
		return nil, &NotAsSigned{File: path, Err: err}
	}
	if err != nil {
		return nil, &SpecError{File: path, Err: err}
	}
	return p, nil
}
