package plan

import (
	"github.com/dprelease/dprelease/spec"
)

// This file holds what a spec may ask for and a plan does not know yet.

// supported reports the first part of a release that the language has and plans do not.
func supported(r *spec.Release) error {
	not := func(path, what string) error {
		return r.Problem(path, spec.Problem{Message: what + ": not supported by this version", Unbuilt: true})
	}
	for _, t := range r.Tables {
		for _, c := range t.Columns {
			if c.Suggest != "" {
				return not("tables."+t.Name+".columns."+c.Name+".bounds", "bounds")
			}
		}
	}
	return nil
}
