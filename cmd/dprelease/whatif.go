package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/plan/planner"
)

// whatIf prints what other amounts of a spec's budget would buy. The flag asked is KEY=AMOUNT[,AMOUNT…].
func (a *app) whatIf(ctx context.Context, s planfile.Spec, asked string) error {
	key, list, found := strings.Cut(asked, "=")
	amounts := strings.Split(list, ",")
	for i, amount := range amounts {
		amounts[i] = strings.TrimSpace(amount)
		found = found && amounts[i] != ""
	}
	if !found {
		return &usageError{fmt.Errorf("--what-if %q: expected --what-if KEY=AMOUNT,AMOUNT…, as epsilon=0.5,1,2,4",
			asked)}
	}
	all, err := planfile.WhatIf(ctx, s, strings.TrimSpace(key), amounts)
	if err != nil {
		return err
	}
	if a.json {
		for _, one := range all { // null if the amount is too small
			a.outcome.Plans = append(a.outcome.Plans, one.Plan)
		}
		return nil
	}
	return planner.WriteWhatIf(a.page(), all)
}

// whatIfPage writes the page of sliders, to the named file if there is one.
func (a *app) whatIfPage(ctx context.Context, s planfile.Spec, named []string) error {
	var file string
	if len(named) > 0 {
		file = named[0]
		if !strings.HasSuffix(file, ".html") {
			return &usageError{fmt.Errorf("--html %s: expected a file name that ends in .html", file)}
		}
	}
	p, path, err := planfile.WhatIfPage(ctx, s, a.out, file)
	if err != nil {
		return err
	}
	a.notePlan(p, path)
	a.say("Written to %s. Open it in a browser: sliders for the budget, its split and its targets, and the changed spec "+
		"to copy.", path)
	return nil
}

// solveBudget prints the smallest budget that meets every target of a spec, and the tables that it leads to.
func (a *app) solveBudget(ctx context.Context, s planfile.Spec) error {
	least, err := planfile.Solve(ctx, s)
	if err != nil {
		return err
	}
	if a.json {
		a.outcome.Solution = least
		return nil
	}
	return planner.WriteSolution(a.page(), least)
}

// tracePlan prints what every pass of the planner computes for a spec.
func (a *app) tracePlan(ctx context.Context, s planfile.Spec) error {
	if a.json {
		return &usageError{errors.New("--trace prints text: leave out --json, and read plan.json for the figures")}
	}
	return planfile.TracePlan(ctx, s, a.page())
}
