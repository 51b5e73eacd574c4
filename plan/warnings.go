package plan

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

const (
	// largeBytes is where a plan warns of its size.
	largeBytes = int64(4) << 30
	// bytesPerValue is the memory of a value of microdata while it is published.
	bytesPerValue = 16
	// weakEpsilon is where a promise means little: at ε = 10 somebody who knows
	// everything else guesses right 99.995 % of the time.
	weakEpsilon = 10
	// weakDelta is where the chance that the promise fails is no longer far below
	// one over the number of units of most releases.
	weakDelta = 1e-6
)

// warnings collects what an approver should know before signing.
func warnings(r *spec.Release, p *Plan) []string {
	var w []string
	for _, problem := range r.Warnings {
		w = append(w, problem.Message)
	}
	w = append(w, weaknesses(p)...)
	w = append(w, stops(r)...)
	w = append(w, repeats(r)...)
	if p.Size.Bytes > largeBytes {
		counted := "the tables have"
		if len(p.Synthetic) > 0 {
			counted = "the tables, and the pairs of columns of microdata, have"
		}
		w = append(w, fmt.Sprintf("%s %s cells in all and need %s of memory; a machine with less will refuse to measure them: use coarser levels or fewer attributes",
			counted, budget.Group(p.Size.Bytes/BytesPerCell), bytesText(p.Size.Bytes)))
	}
	for _, s := range p.Synthetic {
		if bytes := s.Rows * int64(len(s.Columns())) * bytesPerValue; bytes > largeBytes {
			w = append(w, fmt.Sprintf("%s of microdata of %s need about %s of memory to publish", budget.Plural(s.Rows, "row"), s.Table, bytesText(bytes)))
		}
		if s.Rounds == 1 {
			w = append(w, fmt.Sprintf("the microdata of %s have a single pair of columns, and a third of what they cost pays for choosing it: a marginal of both is better, with the error of every cell beside it", s.Table))
		}
	}
	first := map[string]Table{}
	for _, t := range p.Tables {
		var by []string
		for _, f := range p.Query(t).Factors {
			by = append(by, f.String())
		}
		key := shown(t.From, by)
		other, ok := first[key]
		if !ok {
			first[key] = t
			continue
		}
		w = append(w, fmt.Sprintf("%s and %s show the same cells: drop one", other.Path, t.Path))
	}
	return w
}

// stops says what a stop for the sake of `expect` tells, which no budget pays for.
func stops(r *spec.Release) []string {
	var w []string
	for _, t := range r.Tables {
		if t.Expect != nil {
			w = append(w, fmt.Sprintf("where the files of table %s do not meet `expect`, the run stops and spends nothing, but whoever sees that the release did not appear learns that a rule failed; "+
				"the promise holds among tables that meet their contract, so set rules that no single %s can tip", t.Name, r.Privacy.Protects))
		}
	}
	return w
}

// weaknesses says where the promise is too weak to protect anybody.
func weaknesses(p *Plan) []string {
	var w []string
	g := p.Guarantee
	epsilon := 0.0
	if exact, err := budget.ParseRat(g.Epsilon); err == nil {
		epsilon, _ = exact.Float64()
	}
	for _, e := range g.Equivalents[:min(1, len(g.Equivalents))] {
		epsilon = e.Epsilon
	}
	if epsilon > weakEpsilon {
		w = append(w, fmt.Sprintf("%s promises next to nothing: already at ε = %d somebody who knows everything else guesses right 99.995%% of the time whether one %s is in the data",
			g.Budget(), weakEpsilon, g.Protects))
	}
	if delta, err := budget.ParseRat(g.Delta); err == nil {
		if v, _ := delta.Float64(); v > weakDelta {
			w = append(w, fmt.Sprintf("with δ = %s the promise may fail altogether with that chance: choose a δ far below one over the number of units, such as 1e-9", budget.DecimalUp(delta, 4)))
		}
	}
	return w
}
