package release

// This file holds what other budgets would buy.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec"
)

// WhatIf plans a spec with each of several amounts of its budget, where key is epsilon,
// delta or rho, as [plan.WhatIf]. It writes nothing and asks no ledger. Errors: as of [Load].
func WhatIf(specPath string, params map[string]string, key string, amounts []string) ([]plan.OtherBudget, error) {
	return ofSpec(specPath, params, func(r *spec.Release) ([]plan.OtherBudget, error) { return plan.WhatIf(r, key, amounts) })
}

// Solve finds the smallest budget that meets every target of a spec. It writes nothing and
// asks no ledger. Errors: as of [Load].
func Solve(specPath string, params map[string]string) (*plan.Solution, error) {
	return ofSpec(specPath, params, plan.Solve)
}

// WhatIfPage writes the page that says how good the tables of a spec would be with other budgets, to a file or, where none
// is named, to out/NAME.whatif.html, and returns the plan and the page's path. It asks no ledger and writes nothing else.
// Errors: as of [Load].
func WhatIfPage(specPath string, params map[string]string, out, file string) (*plan.Plan, string, error) {
	p, err := ofSpec(specPath, params, plan.NewProspects)
	if err != nil {
		return nil, "", err
	}
	page, err := report.WhatIf(p)
	if err != nil {
		return nil, "", err
	}
	if file == "" {
		file = filepath.Join(out, p.Plan.Name+".whatif.html")
	}
	if err := replaceFile(filepath.Dir(file), filepath.Base(file), page); err != nil {
		return nil, "", fmt.Errorf("writing the what-if page: %w", err)
	}
	return p.Plan, file, nil
}

// TracePlan plans a spec and writes to w what every pass of the planner works out. It asks no
// ledger, and writes nothing else. Errors: as of [Load].
func TracePlan(specPath string, params map[string]string, w io.Writer) error {
	_, err := ofSpec(specPath, params, func(r *spec.Release) (struct{}, error) { return struct{}{}, plan.Trace(r, w) })
	return err
}

// ofSpec works something out from a spec.
func ofSpec[T any](specPath string, params map[string]string, work func(*spec.Release) (T, error)) (T, error) {
	var out T
	r, err := spec.Load(specPath, params, func(path string, format spec.Format, most int64) (*spec.Unpacked, error) {
		return histogram.Unpack(context.Background(), path, format, most)
	})
	if err == nil {
		out, err = work(r)
	}
	var problems *spec.Errors
	if err == nil || errors.As(err, &problems) {
		return out, err
	}
	return out, &SpecError{File: specPath, Err: err}
}
