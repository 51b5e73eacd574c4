package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
)

// Certificate says under which assumptions the guarantee holds, where the privacy
// loss goes, with which exact noise, who approved it, and what is known of the
// account that paid.
type Certificate struct {
	Assumptions []string `json:"assumptions"`
	GivenAway   []string `json:"given_away"` // public figures that are published as they are, which may be exact facts about the data
	Loss        Loss     `json:"loss"`
	Mechanisms  []Noise  `json:"mechanisms"`
	// Sensitivities are there where rows do not all count as one, or figures are of values.
	Sensitivities []Sensitivity `json:"sensitivities,omitempty"`
	Approvals     []Approval    `json:"approvals"`
	Account       Account       `json:"account"`
	Hazards       []Hazard      `json:"hazards"`
}

// Loss is the privacy loss of the whole release, of all measurements that bear on each
// table, which tables share, and of each attribute for somebody who knows all else
// about a unit ([plan.Plan.StatedLoss]).
// Another value is one unit taken away and one added, so that where neighbours add
// or remove a unit an attribute can lose more than the whole does: up to twice its
// ε where that is pure, and up to four times its ρ.
type Loss struct {
	Methods    []string `json:"methods"` // of the ε at a δ
	Whole      LossOf   `json:"whole"`
	Tables     []LossOf `json:"tables"`
	Attributes []LossOf `json:"attributes"`
}

// LossOf is the loss of some of the measurements.
type LossOf struct {
	Of      string `json:"of"`
	Tables  int    `json:"tables"`            // that lose it together
	Epsilon string `json:"epsilon,omitempty"` // pure and exact, where there is one
	Rho     string `json:"rho"`               // exact
	At      []At   `json:"at"`
}

// At is an ε at a δ, rounded up.
type At struct {
	Delta   string  `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

// Noise is a mechanism with the measurements that use it, or the block of an
// adaptive method. Its numbers are exact.
type Noise struct {
	Mechanism    Mechanism `json:"mechanism"`
	Shifts       [][]int64 `json:"shifts"` // by which one unit can move the answers; empty: any within L1 and L2
	Measurements []string  `json:"measurements"`
}

// Approval is a signature under the plan.
type Approval struct {
	Role        string `json:"role"`
	Statement   string `json:"statement"`
	Signer      string `json:"signer"`      // public key, in one word
	Fingerprint string `json:"fingerprint"` // of the key
	Until       string `json:"until,omitempty"`
}

// Account is what is known of the account that paid.
type Account struct {
	Comparisons int64  `json:"comparisons_with_the_truth"` // recorded before this release
	Witnessed   bool   `json:"rollback_is_noticed"`
	Sentence    string `json:"sentence"` // on the comparisons; empty for a rehearsal
}

// certificateOf makes the certificate of a report that is whole but for it.
func certificateOf(p *plan.Plan, r *Report, from sources, paid receipt, approvals []Approval) (Certificate, error) {
	loss, err := describe.StatedLoss(p)
	if err != nil {
		return Certificate{}, err
	}
	return Certificate{
		Assumptions: assumptionsOf(r),
		GivenAway:   givenAway(p),
		Loss:        statedLoss(loss),
		Mechanisms:  noisesOf(p),

		Sensitivities: sensitivitiesOf(p),
		Approvals:     append([]Approval{}, approvals...),
		Account:       accountOf(paid),
		Hazards:       hazardsOf(r, paid),
	}, nil
}

// assumptionsOf is what the guarantee rests on and the release cannot show.
func assumptionsOf(r *Report) []string {
	g := r.Guarantee
	unit := fmt.Sprintf("Every row is one %s and no %[1]s has two.", g.Protects)
	if g.Unit != "each row" {
		unit = fmt.Sprintf("%s are one %s: an id that is wrong, or two ids for one %[2]s, protect less.", capital(g.Unit), g.Protects)
		if g.Rows != nil {
			unit += " A row of any of these tables is of one " + g.Protects + " alone."
		}
		if g.WithoutID != "" {
			unit += " Rows without an id were left out of every count."
		}
	}
	all := []string{
		"The program that is named below was run as it is, on the plan that is published here.",
		unit,
		"The promise compares tables that meet the spec's contract. A table that does not stops the run before anything is spent, and that it stopped is not covered.",
		"The key of the noise was secret while it was in use, and is erased.",
		"Other releases from the same data are charged to the same account.",
	}
	if r.Bounds != nil {
		for _, w := range r.Bounds.Weights {
			all = append(all, w.assumption(g.Protects))
		}
		for _, c := range r.Bounds.Columns {
			if c.By != "" {
				all = append(all, fmt.Sprintf("The ranges of %s are the spec's, chosen without looking at these data, and the %s of a row is an attribute of its %s.", c.Column, c.By, g.Protects))
			} else {
				all = append(all, fmt.Sprintf("The range of %s is the spec's, chosen without looking at these data.", c.Column))
			}
		}
	}
	for _, t := range r.Provenance.Public {
		all = append(all, fmt.Sprintf("The table %s is public: nothing that it holds is protected, and the plan publishes its key and the columns that are looked up.", t))
	}
	if g.Neighbours == "replace" {
		together := ""
		if g.Rows != nil {
			together = ", in all tables together,"
		}
		all = append(all, fmt.Sprintf("How many units (each %s) there are%s is no secret.", g.Protects, together))
	}
	return all
}

// AttributeLoss says what the rows of the losses of attributes mean, and how they can be larger than that of the whole release.
func (r *Report) AttributeLoss() string {
	g := r.Guarantee
	text := fmt.Sprintf("How much somebody who knows all else about a %s can learn of one attribute: the loss where that one value is another. The last row is of all of the %[1]s at once.", g.Protects)
	switch {
	case g.Sample != "":
		text += " As if every one were drawn for the sample."
	case g.Neighbours == "add-remove":
		text += fmt.Sprintf(" That row tells whether one %s is in the data or not. To learn a value of somebody is to learn more, so an attribute can lose more than that row.", g.Protects)
	}
	return text + " Rounded up."
}

// AttributeStep says how much larger a step it is to have another value than to be in the data or not, "" where both are the same.
func (r *Report) AttributeStep() string {
	if g := r.Guarantee; g.Sample == "" && g.Neighbours == "add-remove" {
		return fmt.Sprintf("To have another value is a larger step: one %s taken away and one added. So an attribute can lose more than the last row, and a %[1]s whose whole record is another one loses more too: up to twice its ε where that is pure, up to four times its ρ.", g.Protects)
	}
	return ""
}

// WholeLoss names the row of the whole release by what differs.
func (r *Report) WholeLoss() string {
	g := r.Guarantee
	if g.Neighbours == "add-remove" {
		return fmt.Sprintf("one %s in the data or not, with all attributes (the whole release)", g.Protects)
	}
	return fmt.Sprintf("one %s with all attributes, replaced by any other (the whole release)", g.Protects)
}

func statedLoss(l *describe.Loss) Loss {
	out := Loss{Methods: []string{}, Tables: make([]LossOf, len(l.Tables)), Attributes: make([]LossOf, len(l.Attributes))}
	part := func(one describe.LossLine) LossOf {
		p := LossOf{Of: one.Of, Tables: one.Tables, Epsilon: one.Pure, Rho: one.Rho, At: make([]At, len(one.Epsilons))}
		for i, e := range one.Epsilons {
			p.At[i] = At{Delta: e.Delta, Epsilon: e.Epsilon}
			if !slices.Contains(out.Methods, e.Method) {
				out.Methods = append(out.Methods, e.Method)
			}
		}
		return p
	}
	out.Whole = part(l.Whole)
	for i, one := range l.Tables {
		out.Tables[i] = part(one)
	}
	for i, one := range l.Attributes {
		out.Attributes[i] = part(one)
	}
	return out
}

// noisesOf are the plan's mechanisms, each once, in the order of their first use, and
// behind them the block of every adaptive method.
func noisesOf(p *plan.Plan) []Noise {
	var all []Noise
	at := map[string]int{}
	for _, m := range p.Measurements {
		key := fmt.Sprint(m.Mechanism)
		i, ok := at[key]
		if !ok {
			i, at[key] = len(all), len(all)
			noise := Noise{Mechanism: mechanismOf(m.Mechanism), Shifts: [][]int64{}}
			for _, shift := range m.Mechanism.Shifts {
				noise.Shifts = append(noise.Shifts, shift)
			}
			all = append(all, noise)
		}
		all[i].Measurements = append(all[i].Measurements, m.ID)
		if d := m.Discovery; d != nil {
			all = append(all, Noise{Mechanism: mechanismOf(d.Select), Shifts: [][]int64{}, Measurements: []string{
				fmt.Sprintf("which groups of %s appear, %s, with a δ of %s each", m.ID, budget.Plural(int64(len(d.Steps())), "time"), upText(d.Delta)),
			}})
		}
		if m.Top != nil {
			all = append(all, choiceNoise(m))
		}
	}
	for _, s := range p.Synthetic {
		if !s.Adaptive() {
			continue
		}
		all = append(all, Noise{Mechanism: mechanismOf(s.Block), Shifts: [][]int64{}, Measurements: []string{
			fmt.Sprintf("microdata/%s, all rounds together, at most %s", s.Table, budget.Group(int64(s.Rounds))),
		}})
	}
	return all
}

// mechanismOf is a mechanism with its numbers as text.
func mechanismOf(m budget.Mechanism) Mechanism {
	out := Mechanism{Kind: string(m.Kind), Parameter: budget.FormatRat(m.Parameter)}
	if m.L1 != nil && m.L2Squared != nil {
		out.L1, out.L2Squared = m.L1.String(), m.L2Squared.String()
	}
	return out
}

// accountOf says what the receipt tells of the account.
func accountOf(paid receipt) Account {
	a := Account{Comparisons: paid.Comparisons, Witnessed: paid.Witnessed}
	switch {
	case paid.Status == Rehearsal:
	case a.Comparisons > 0:
		a.Sentence = fmt.Sprintf("Before this release results on the account were compared with the truth %s: what was learned from that is in no budget.", times(a.Comparisons))
	default:
		a.Sentence = "No comparison of results with the truth was recorded on the account before this release."
	}
	return a
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return budget.Group(n) + " times"
}

// capital begins a sentence.
func capital(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// folded is a run of neighbouring parts that lose the same, as one line of a page.
func folded(parts []LossOf) []LossOf {
	var out []LossOf
	for from := 0; from < len(parts); {
		to := from + 1
		for to < len(parts) && parts[to].sameAs(parts[from]) {
			to++
		}
		one := parts[from]
		if more := to - from - 1; more > 0 {
			one.Of += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, one)
		from = to
	}
	return out
}

func (l LossOf) sameAs(m LossOf) bool {
	return l.Epsilon == m.Epsilon && l.Rho == m.Rho && l.Tables == m.Tables && slices.Equal(l.At, m.At)
}

// Heads are the columns that a page of losses has beside names and numbers of
// tables.
func (l Loss) Heads() []string {
	heads := []string{"ρ"}
	if l.Whole.Epsilon != "" {
		heads = append(heads, "pure ε")
	}
	for _, at := range l.Whole.At {
		heads = append(heads, "ε at δ = "+upText(at.Delta))
	}
	return heads
}

// Cells are the figures below those heads, rounded up.
func (l LossOf) Cells() []string {
	cells := []string{upText(l.Rho)}
	if l.Epsilon != "" {
		cells = append(cells, upText(l.Epsilon))
	}
	for _, at := range l.At {
		cells = append(cells, strings.TrimPrefix(describe.Bound(plan.Equivalent{Epsilon: at.Epsilon}), "ε = "))
	}
	return cells
}

// Uses names the first measurement of a mechanism and how many more there are.
func (n Noise) Uses() string {
	if more := len(n.Measurements) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", n.Measurements[0], more)
	}
	return n.Measurements[0]
}

// upText shows an exact number in four significant digits, rounded up.
func upText(text string) string {
	if r := exact(text); r != nil {
		return budget.DecimalUp(r, 4)
	}
	return text
}
