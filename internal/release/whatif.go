package release

// This file holds what other budgets would buy.

import (
	"errors"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// WhatIf plans a spec with each of several amounts of its budget, where key is epsilon,
// delta or rho. It writes nothing and asks no ledger. Errors: as of [Load].
func WhatIf(specPath string, params map[string]string, key string, amounts []string) ([]*plan.Plan, error) {
	r, err := spec.Load(specPath, params)
	var problems *spec.Errors
	if errors.As(err, &problems) {
		return nil, err
	}
	if err != nil {
		return nil, &SpecError{File: specPath, Err: err}
	}
	plans, err := plan.WhatIf(r, key, amounts)
	if err != nil {
		return nil, &SpecError{File: specPath, Err: err}
	}
	return plans, nil
}
