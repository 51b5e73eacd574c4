package planfile

// This file holds what is computed from a spec in addition to its plan: other budgets, and a trace of the planner.

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec"
)

// WhatIf plans a spec with each of several amounts of its budget, where key is epsilon, delta or rho, as
// [planner.WhatIf]. It writes nothing and uses no ledger. Errors: as [Load].
func WhatIf(ctx context.Context, s Spec, key string, amounts []string) ([]planner.OtherBudget, error) {
	ctx = progress.Begin(ctx, int64(len(amounts)), "planning with other budgets")
	return loadSpec(ctx, s,
		func(r *spec.Release) ([]planner.OtherBudget, error) { return planner.WhatIf(ctx, r, key, amounts) })
}

// Solve finds the smallest budget that meets every target of a spec. It writes nothing and uses no ledger. Errors: as
// [Load].
func Solve(ctx context.Context, s Spec) (*planner.Solution, error) {
	return loadSpec(progress.Begin(ctx, 0, "looking for the smallest budget"), s, planner.Solve)
}

// WhatIfPage writes the page that shows how good the tables of a spec would be with other budgets, to a file or, if
// none is named, to out/NAME.whatif.html, and returns the plan and the page's path. It uses no ledger and writes
// nothing else. Errors: as [Load].
func WhatIfPage(ctx context.Context, s Spec, out, file string) (*compiled.Compiled, string, error) {
	p, err := loadSpec(progress.Begin(ctx, 0, "planning with other budgets"), s, planner.NewForecast)
	if err != nil {
		return nil, "", err
	}
	var place []string
	switch {
	case file != "":
		place = []string{file}
	case filepath.Clean(out) != ".":
		place = []string{"--out", out}
	}
	page, err := page.WhatIf(p, place...)
	if err != nil {
		return nil, "", err
	}
	if file == "" {
		file = filepath.Join(out, p.Plan.Name+".whatif.html")
	}
	if err := durable.ReplaceFile(filepath.Dir(file), filepath.Base(file), page); err != nil {
		return nil, "", fmt.Errorf("writing the what-if page: %w", err)
	}
	return p.Plan, file, nil
}

// TracePlan plans a spec and writes to w what every pass of the planner computes. It uses no ledger and writes nothing
// else. Errors: as [Load].
func TracePlan(ctx context.Context, s Spec, w io.Writer) error {
	_, err := loadSpec(progress.Begin(ctx, 0, "planning"),
		s, func(r *spec.Release) (struct{}, error) { return struct{}{}, planner.Trace(r, w) })
	return err
}
