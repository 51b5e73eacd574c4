package plan

import (
	"fmt"

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
	for _, m := range r.Marginals {
		path := "marginals." + m.Name
		for i, s := range m.Stats {
			if s.Kind == spec.Quantiles {
				return not(fmt.Sprintf("%s.stats[%d]", path, i), string(s.Kind))
			}
		}
	}
	if r.Diagnostics != "" {
		return not("diagnostics", "diagnostics")
	}
	return nil
}
