package plan

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// largeBytes is where a plan warns of its size.
const largeBytes = int64(4) << 30

// warnings collects what an approver should know before signing.
func warnings(r *spec.Release, p *Plan) []string {
	var w []string
	for _, problem := range r.Warnings {
		w = append(w, problem.Message)
	}
	if p.Size.Bytes > largeBytes {
		w = append(w, fmt.Sprintf("the tables have %s cells in all and need %s of memory; a machine with less will refuse to measure them: use coarser levels or fewer attributes",
			budget.Group(p.Size.Cells), bytesText(p.Size.Bytes)))
	}
	first := map[string]string{}
	for _, m := range p.Measurements {
		key := fmt.Sprint(m.Query)
		if other, ok := first[key]; ok {
			w = append(w, fmt.Sprintf("%s and %s ask the same question and are each paid for: drop one", other, m.ID))
			continue
		}
		first[key] = m.ID
	}
	return w
}
