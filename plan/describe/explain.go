package describe

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the page that a person signs.

// Explain writes the page that a person signs: what is promised, a row per table with its noise, error and cost, what
// each table will be good for, and what to know before signing. Losses are rounded up, errors and scales to the
// nearest. If there are more than 40 tables, similar ones (of one marginal, with the same number of attributes,
// measured the same way) share one row after the first three; plan.json lists them all.
func Explain(c *compiled.Compiled, w io.Writer) error {
	p := c.Plan()
	if p.Release().Collection != nil {
		return explainCollection(c, w)
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "Plan of release %s", p.Name)
	if p.Release().About.Title != "" {
		fmt.Fprintf(b, ": %s", p.Release().About.Title)
	}
	fmt.Fprintf(b, "\n\nPromises %s\n\n", Guarantee(language.English, p))
	explainGovernance(p, b)
	explainTables(p, b)
	explainFigures(p, b)
	explainRanges(p, b)
	explainOthers(p, b)
	explainStrategies(p, b)
	explainImpossible(p, b)
	explainInvariants(p, b)
	explainConsistent(p, b)
	for i := range p.Synthetic {
		explainMicrodata(p, b, i)
	}
	for _, m := range p.AllModels() {
		explainModel(p, b, m)
	}
	explainLeaves(p, b)
	explainConversion(p, b)
	explainNoise(p, b)
	if len(p.Tables) > 0 {
		fmt.Fprintf(b, "\nWhat the tables will be good for (before sampling and response error)\n")
		fmt.Fprintf(b, "  %s\n", CountedText(p))
		explainSizes(p, b)
	}
	for _, o := range Outlooks(language.English, ExpectedTables(p)) {
		fmt.Fprintf(b, "  %s: %s\n", o.Tables, o.Text)
	}
	for _, warning := range Warnings(language.English, p) {
		fmt.Fprintf(b, "\nBefore you sign: %s.\n", warning)
	}
	candidates := ""
	if of := candidatesText(language.English, p); of != "" {
		candidates = ", " + of + " included"
	}
	published := "No table"
	if len(p.Tables) > 0 {
		published = budget.Plural(p.Size.Cells, "cell") + " in " + budget.Plural(int64(len(p.Tables)), "table")
	}
	fmt.Fprintf(b, "\n%s%s, %s of memory to measure%s. Plan hash %s\n",
		published, sizeAssumptions(p.Tables), BytesText(p.Size.Bytes), candidates, c.Hash())
	_, err := io.WriteString(w, b.String())
	return err
}

// explainGovernance writes what the release corrects, which accounts it is charged to if they are several, whether
// rows without an id are left out, what its files must hold, and whether an interrupted run is lost.
func explainGovernance(p *plan.Plan, b *strings.Builder) {
	var lines []string
	if p.Corrects != "" {
		lines = append(lines, fmt.Sprintf(
			"Corrects %s: with new noise and a debit of its own; what %[1]s cost stays spent.",
			p.Corrects))
	}
	if g := p.Guarantee; len(g.FurtherAccounts) > 0 {
		lines = append(lines, fmt.Sprintf("Charged in full to each of the accounts %s and %s.", g.Account,
			strings.Join(g.FurtherAccounts, ", ")))
	}
	lines = append(lines, holdersLines(p)...)
	lines = append(lines, sampleLines(p)...)
	for _, t := range p.Release().Tables {
		if t.Unit.Null == spec.Drop {
			lines = append(lines, fmt.Sprintf(
				"Left out: every row of %s whose %s is null. Such rows are in no table, however many they are.",
				t.Name, t.Unit.ID))
		}
		if w := t.Where; w != nil {
			lines = append(lines, fmt.Sprintf("Of the rows of %s only those count for which this is true: %s.", t.Name,
				strings.TrimSpace(w.Expression.Text())))
		}
		for _, j := range t.Joins {
			lines = append(lines, fmt.Sprintf(
				"Public: rows of %s are joined to %s (%s). The plan holds the columns of it that are used.", t.Name,
				j.Name,
				joinText(j)))
		}
		if t.Expect != nil {
			lines = append(lines, fmt.Sprintf("Checked before anything is spent: %s.", expectText(t)))
		}
	}
	if p.Resume == spec.Never {
		lines = append(lines, "If this run is cut off after its debit, its budget is lost: resume: never.")
	}
	for _, line := range lines {
		fmt.Fprintln(b, line)
	}
	if len(lines) > 0 {
		fmt.Fprintln(b)
	}
}

// expectText says what a table's files must hold.
func expectText(t *spec.Table) string {
	var rules []string
	if rows := t.Expect.Rows; rows != nil {
		rules = append(rules, fmt.Sprintf("%s to %s rows of %s count", budget.Group(rows.Least),
			budget.Group(rows.Most),
			t.Name))
	}
	if len(t.Expect.Every) > 0 {
		var names []string
		for _, a := range t.Expect.Every {
			names = append(names, a.String())
		}
		rules = append(rules, fmt.Sprintf("every declared code of %s occurs in %s", strings.Join(names, ", "), t.Name))
	}
	return strings.Join(rules, "; ")
}

// explainTables writes the table of tables.
func explainTables(p *plan.Plan, b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "table\tcells\tmeasured\tnoise\tleaf\tstd. error\t95% margin\tcost")
	rows := tableRows(p)
	for _, r := range Runs(p.Tables, func(i, j int) bool { return rows[i].isSimilar(rows[j]) }) {
		listed := r.To
		if len(p.Tables) > ManyTables && r.To > r.From+firstTables+1 {
			listed = r.From + firstTables
		}
		for _, row := range rows[r.From:listed] {
			row.write(t)
		}
		if listed < r.To {
			writeRest(t, rows[listed:r.To])
		}
	}
	for i, s := range p.Synthetic {
		if !s.Adaptive() {
			fmt.Fprintf(t, "%s\t\tof the tables\tsee below\t\t\t\tnothing\n", s.Name())
			continue
		}
		fmt.Fprintf(t, "%s\t\tin rounds\tsee below\t%s\t\t\t%s\n", s.Name(), s.Leaf, rhoText(rhoOf(p, i)))
	}
	for _, m := range p.Models {
		fmt.Fprintf(t, "%s\t\tin rounds\tsee below\t%s\t\t\t%s\n", m.Path(), m.Leaf, rhoText(RhoOfModel(m)))
	}
	for _, m := range p.TableModels {
		fmt.Fprintf(t, "%s\t\tof the tables\tsee below\t\t\t\tnothing\n", m.Path())
	}
	fmt.Fprintf(t, "total\t%s\t%s\t\t\t\t\t%s\n", budget.Group(p.Size.Cells),
		budget.Plural(int64(len(p.Measurements)), "measurement"), Budget(p.Guarantee))
	t.Flush()
}

// tableRows returns the rows of all tables.
func tableRows(p *plan.Plan) []tableRow {
	measured, leaves := p.Measured(), LeavesOfTables(p)
	rows := make([]tableRow, len(p.Tables))
	for i, t := range p.Tables {
		rows[i] = tableRow{Table: t, measured: howMeasured(t, measured), leaf: leafText(leaves[t.Path]),
			selection: selection.All{}}
		if m, ok := measured[t.Path]; ok {
			rows[i].mechanism, rows[i].selection = &m.Mechanism, m.Selection
		}
	}
	return rows
}

// howMeasured says where a table's figures come from.
func howMeasured(t plan.Table, measured map[string]plan.Measurement) string {
	if which := selecting[t.Selects()].which(t); which != "" {
		return "by itself, " + which
	}
	_, direct := measured[t.Path]
	switch {
	case t.Statistics[0].Measurement != "":
		return "by itself"
	case direct:
		return "by itself and with others"
	}
	return "with others"
}

// LeavesOfTables returns the leaf that pays for each table, by the table's path.
func LeavesOfTables(p *plan.Plan) map[string]string {
	leaves := map[string]string{}
	for _, s := range p.Strategies {
		for _, path := range s.Tables {
			leaves[path] = s.Leaf
		}
	}
	return leaves
}

// costText returns the cost of the row's own measurement.
func (r tableRow) costText() string {
	return selecting[r.selection.Kind()].cost(r.selection, *r.mechanism)
}

// write writes the row of one table.
func (r tableRow) write(w io.Writer) {
	noise, cost := "", ""
	if r.mechanism != nil {
		noise, cost = MechanismText(*r.mechanism)+", "+ScaleText(*r.mechanism), r.costText()
	}
	s := r.Statistics[0]
	cells := selecting[r.Selects()].cells(r.Table)
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t±%s\t%s\n", r.Path, cells, r.measured, noise, r.leaf,
		budget.DecimalNearest(s.StandardError, 4), budget.Group(WholeMargin(s.Margin)), cost)
}

// writeRest writes one row for tables like those above it: their total cells and costs, and the ranges of their
// errors.
func writeRest(w io.Writer, rest []tableRow) {
	var cells int64
	var errors, margins []float64
	var mechanisms []budget.Mechanism
	for _, r := range rest {
		cells += r.Cells
		errors, margins = append(errors, r.Statistics[0].StandardError), append(margins, r.Statistics[0].Margin)
		if r.mechanism != nil {
			mechanisms = append(mechanisms, *r.mechanism)
		}
	}
	noise, cost := "", ""
	if len(mechanisms) > 0 {
		noise, cost = scalesText(mechanisms), costOfAll(mechanisms)
	}
	fmt.Fprintf(w, "… and %s more\t%s in all\t%s\t%s\t%s\t%s\t%s\t%s\n", budget.Group(int64(len(rest))),
		budget.Group(cells), rest[0].measured, noise, rest[0].leaf,
		rangeText(language.English, errors, func(e float64) string { return budget.DecimalNearest(e, 4) }),
		rangeText(language.English, margins, func(m float64) string { return "±" + budget.Group(WholeMargin(m)) }),
		cost)
}

// rangeText returns the range of some numbers.
func rangeText(l *language.Language, numbers []float64, text func(float64) string) string {
	low, high := text(slices.Min(numbers)), text(slices.Max(numbers))
	if low == high {
		return low
	}
	return l.Text("%s to %s", low, high)
}

// scalesText describes the noise of mechanisms of one kind.
func scalesText(all []budget.Mechanism) string {
	least, most := all[0], all[0]
	for _, m := range all {
		if m.Parameter.Cmp(least.Parameter) < 0 {
			least = m
		}
		if m.Parameter.Cmp(most.Parameter) > 0 {
			most = m
		}
	}
	if low, high := ScaleText(least), ScaleText(most); low != high {
		_, high, _ = strings.Cut(high, " = ")
		return MechanismText(least) + ", " + low + " to " + high
	}
	return MechanismText(least) + ", " + ScaleText(least)
}

// explainStrategies says how groups of tables are measured, and what the alternatives were. It omits a table measured
// by itself, whose row says everything.
func explainStrategies(p *plan.Plan, b *strings.Builder) {
	var lines []string
	from := 0
	for _, s := range p.Strategies {
		own := p.Measurements[from : from+s.Measurements]
		from += s.Measurements
		if isOfPart(s) {
			continue // the figure that it is for states its accuracy
		}
		if len(s.Tables) > 1 || s.Kind != strategy.Direct || inPortions(s) || otherNoise(s) || hasReason(s) {
			lines = append(lines, fmt.Sprintf("%s: %s, %s. %s", Names(s), budget.Plural(int64(len(own)), "measurement"),
				costOfAll(plan.Mechanisms(own)), Strategy(s)))
		}
	}
	if len(lines) == 0 {
		return
	}
	figures := "all cells"
	if slices.ContainsFunc(p.Tables, func(t plan.Table) bool { return hasSums(p, t) }) {
		figures = "all figures asked for: cells, running sums, and every range of neighbours"
	}
	fmt.Fprintf(b, "\nHow the tables are measured (error: root mean square of the standard errors of %s, from these "+
		"measurements alone)\n", figures)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
	if p.Sums == strategy.LevelsSeparate {
		fmt.Fprintf(b, "  %s\n", separateLevels)
	}
}

// separateLevels says why levels are measured as columns of their own.
const separateLevels = "Every level of a column is measured as a column of its own: as parts of each other they " +
	"would make some tables worse than by themselves."

// hasReason reports whether a strategy was rejected because it is not possible.
func hasReason(s strategy.Group) bool {
	return slices.ContainsFunc(s.Alternatives, func(other strategy.Alternative) bool { return !other.Why.IsZero() })
}

// otherNoise reports whether another kind of noise was also considered.
func otherNoise(s strategy.Group) bool {
	return slices.ContainsFunc(s.Alternatives, func(other strategy.Alternative) bool { return other.Noise != s.Noise })
}

// explainSizes says where the size of an average cell comes from.
func explainSizes(p *plan.Plan, b *strings.Builder) {
	for _, t := range p.Release().Tables {
		if rows := t.ExpectedRows(); rows > 0 &&
			slices.ContainsFunc(p.Tables, func(shown plan.Table) bool { return shown.From == t.Name }) {
			fmt.Fprintf(b, "  An average cell: %s of %s (the middle of what `expect: rows` says), spread evenly over "+
				"the cells that can have any.\n", budget.Plural(rows, "row"), t.Name)
		}
	}
	if slices.ContainsFunc(p.Tables, func(t plan.Table) bool { return Label(language.English, t.Usefulness) != "" }) {
		fmt.Fprintf(b, "  %s\n", SpreadText)
	}
}

// explainOthers says how tables are estimated from measurements that they share.
func explainOthers(p *plan.Plan, b *strings.Builder) {
	if slices.ContainsFunc(tableRows(p),
		func(r tableRow) bool { return strings.HasSuffix(r.measured, "with others") }) {
		b.WriteString("\nWith others: computed from all measurements that contribute to the table, each weighted by " +
			"its precision (generalised least squares). Such tables agree with each other.\n")
	}
}

// explainRanges says how accurate the sums of neighbours are that tables ask for.
func explainRanges(p *plan.Plan, b *strings.Builder) {
	var ranged []plan.Table
	for _, t := range p.Tables {
		if t.Statistics[0].OfRanges > 0 {
			ranged = append(ranged, t)
		}
	}
	var parts []string
	for _, r := range Runs(ranged, func(int, int) bool { return true }) {
		var errors []float64
		for _, t := range ranged[r.From:r.To] {
			errors = append(errors, t.Statistics[0].OfRanges)
		}
		name := ranged[r.From].Path
		if more := len(errors) - 1; more > 0 {
			name += fmt.Sprintf(" and %s more", budget.Group(int64(more)))
		}
		parts = append(parts, name+" "+
			rangeText(language.English, errors, func(e float64) string { return budget.DecimalNearest(e, 4) }))
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "\nSums of neighbours, of any length (root mean square of their standard errors): %s\n",
			strings.Join(parts, "; "))
	}
}

// Names returns the tables of a group, in a few words.
func Names(s strategy.Group) string {
	if more := len(s.Tables) - 1; more > 0 {
		return fmt.Sprintf("%s and %s more", s.Tables[0], budget.Group(int64(more)))
	}
	return s.Tables[0]
}

// Strategy says how a group is measured, with what error, and what the alternatives were.
func Strategy(s strategy.Group) string {
	b := &strings.Builder{}
	b.WriteString(measuredText(s))
	fmt.Fprintf(b, " Error %s", budget.DecimalNearest(s.RMSE, 4))
	for _, other := range s.Alternatives {
		switch {
		case !other.Why.IsZero():
		case other.BudgetNeeded != "":
			fmt.Fprintf(b, "; %s would need %s for the same targets", insteadOf(s, other), other.BudgetNeeded)
		default:
			fmt.Fprintf(b, "; %s would have %s", insteadOf(s, other), budget.DecimalNearest(other.RMSE, 4))
		}
	}
	b.WriteString(".")
	if slices.ContainsFunc(s.Alternatives, func(other strategy.Alternative) bool {
		return other.Why.IsZero() && other.BudgetNeeded == "" && other.Kind != strategy.EqualShares &&
			other.RMSE < s.RMSE
	}) {
		b.WriteString(" The choice goes by all tables of the release together, by their weights and by what the " +
			"budget minimises, and first for tables that agree where they show one column at several levels.")
	}
	for _, other := range s.Alternatives {
		if !other.Why.IsZero() {
			fmt.Fprintf(b, " Not by %s: %s.", other.Kind, other.Why)
		}
	}
	return b.String()
}

// insteadOf names an alternative strategy by what differs: the way, the noise, or both.
func insteadOf(s strategy.Group, other strategy.Alternative) string {
	noise := other.Noise.Name() + " noise"
	if other.BudgetNeeded == "" {
		noise += " everywhere" // its error is that with one noise for the whole release
	}
	way := alternatives[other.Kind]
	if len(s.Tables) == 1 && (other.Kind == strategy.EqualShares || other.Kind == strategy.Direct) {
		way = ofOneTable[other.Kind]
	}
	switch {
	case other.Noise == s.Noise:
		return way
	case other.Kind == s.Kind:
		return noise
	default:
		return way + " with " + noise
	}
}

// inPortions reports whether a table of a group that is measured by itself takes several measurements, because a
// column whose neighbours are added up is measured separately.
func inPortions(s strategy.Group) bool {
	return s.Kind == strategy.Direct && s.Measurements > len(s.Tables)
}

// measuredText says what is measured for a group.
func measuredText(s strategy.Group) string {
	noise := s.Noise.Name() + " noise"
	switch s.Kind {
	case strategy.Largest:
		return "Tables that lie in no other are measured, with " + noise +
			"; all are put together from these by least squares."
	case strategy.Residuals:
		return "What the tables share is measured once (residuals), with " + noise + "."
	}
	switch {
	case s.Kind == strategy.ResidualsAndTables:
		return "What the tables share is measured once (residuals), and some tables by themselves as well, with " +
			noise +
			"."
	case s.Kind == strategy.EqualShares:
		return "Each table is measured by itself, all with equal shares, with " + noise +
			": no other way was found that leaves none worse."
	case s.Kind == strategy.Direct && s.Measurements < len(s.Tables):
		return fmt.Sprintf("Of the tables %d are measured by themselves, with %s; all are put together from these by "+
			"least squares.", s.Measurements, noise)
	}
	each := "Each table"
	if len(s.Tables) == 1 {
		each = "The table"
	}
	if inPortions(s) {
		noise += ", and where neighbours are to be added up along a column in portions: without that column, and " +
			"what it adds"
	}
	return each + " is measured by itself, with " + noise + "."
}

// alternatives name the strategies within a sentence.
var alternatives = map[strategy.Kind]string{
	strategy.Direct: "each table by itself", strategy.Largest: "only tables that lie in no other",
	strategy.Residuals:          "what the tables share once (residuals)",
	strategy.EqualShares:        "each table by itself, all with equal shares,",
	strategy.ResidualsAndTables: "what the tables share once, and some by themselves",
}

// ofOneTable names the strategies that are called differently for a group of one table: equal shares then measure its
// cells, whatever sums of them are needed.
var ofOneTable = map[strategy.Kind]string{strategy.Direct: "the table by itself",
	strategy.EqualShares: "its cells alone"}

// explainLeaves writes the budget split, if there is one.
func explainLeaves(p *plan.Plan, b *strings.Builder) {
	if len(p.Leaves) < 2 {
		return
	}
	b.WriteString("\nBudget\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, l := range p.Leaves {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", l.Path, Percent(plan.Amount(l.Share)), l.Amount, l.PaysFor())
	}
	t.Flush()
}

// explainConversion says what the numerical composition of losses has gained, for an ε,δ budget.
func explainConversion(p *plan.Plan, b *strings.Builder) {
	spent, plain := plan.Amount(p.Guarantee.Rho), plan.Amount(p.Guarantee.PlainRho)
	switch {
	case p.Guarantee.PlainRho == "":
	case hasLaplace(p):
		fmt.Fprintf(b, "\nAll measurements composed numerically are within ε and δ. The account adds up ρ, which is "+
			"%s here: for one ε and δ Laplace noise has more of it than Gaussian noise.\n",
			strings.TrimPrefix(budget.Amount(spent), "= "))
	default:
		more, _ := new(big.Rat).Quo(spent, plain).Float64()
		fmt.Fprintf(b, "\nε and δ buy ρ %s, all measurements composed numerically. The conversion of ρ alone would "+
			"allow %s, with %s more variance in every cell.\n",
			budget.Amount(spent), strings.TrimPrefix(budget.Amount(plain), "= "), budget.Percent(more-1))
	}
}

func BytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%d KiB", (n+1023)/1024)
	}
}
