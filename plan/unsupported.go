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
		if t.Weight != nil {
			return not("tables."+t.Name+".weight", "weight")
		}
		for _, c := range t.Columns {
			switch path := "tables." + t.Name + ".columns." + c.Name; {
			case c.Suggest != "":
				return not(path+".bounds", "bounds")
			case c.Domain == nil:
				return not(path, "a column without cells")
			}
		}
	}
	for _, m := range r.Marginals {
		path := "marginals." + m.Name
		for i, s := range m.Stats {
			if s.Kind != spec.Count {
				return not(fmt.Sprintf("%s.stats[%d]", path, i), string(s.Kind))
			}
		}
		if m.PerUnit != (spec.PerUnit{}) {
			return not(path+".per_unit", "per_unit")
		}
	}
	if r.Diagnostics != "" {
		return not("diagnostics", "diagnostics")
	}
	return nil
}
