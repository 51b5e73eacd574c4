package describe

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the facts: a plan as short statements, by which two plans can be compared.

// factsOf returns all that a plan says, in the order of its topics.
func factsOf(p *plan.Plan) []planFact {
	b := factBook{}
	b.sayRelease(p)
	b.sayGuarantee(p)
	b.say(OnBudget, "", "made least inside a leaf", objectives[p.Release().Budget.Minimise])
	b.sayNoise(p)
	b.sayLeaves(p.Leaves)
	weights := map[string]*big.Rat{} // of marginals, in the objective
	for _, m := range p.Release().Marginals {
		weights[m.Name] = m.Weight
	}
	for _, row := range tableRows(p) {
		b.sayTable(p, row, weights)
	}
	b.sayInvariants(p)
	b.sayConsistent(p.Consistent)
	if p.Sums == strategy.LevelsSeparate || slices.ContainsFunc(p.Tables,
		func(t plan.Table) bool { return hasSums(p, t) }) {
		b.say(OnStrategy, "", "columns along which counts are added up", summings[p.Sums])
	}
	for _, s := range p.Strategies {
		b.sayStrategy(s)
	}
	for i, s := range p.Synthetic {
		if s.Adaptive() {
			b.sayMicrodata(s, p.ColumnsOf(i))
		} else {
			b.sayTableMicrodata(s, tabulation.Tables(p, s))
		}
	}
	for _, m := range p.AllModels() {
		b.sayModel(p, m)
	}
	for _, t := range p.Release().Tables {
		b.saySource(t)
		for _, i := range Impossibilities(language.English, p) {
			if i.Table == t.Name {
				b.say(OnSource, t.Name, "no row has "+i.Rule, i.effectText(language.English))
			}
		}
	}
	for _, t := range p.Release().Tables {
		for _, c := range t.Columns {
			b.sayColumn(p.Release().Words, t, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Source.Params)) {
		b.add(planFact{topic: OnParameter, subject: name, value: p.Source.Params[name]})
	}
	for _, t := range p.Release().Tables {
		for _, j := range t.Joins {
			hash := plan.HashOf([]byte(p.Source.Files[j.File]))
			b.add(planFact{topic: OnSource, subject: t.Name, what: "public table " + j.Name, value: joinText(j) +
				", SHA-256 " +
				hash[:16], exact: "SHA-256 " + hash})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.Source.Files)) {
		if joinedAlone(p, path) {
			continue
		}
		hash := plan.HashOf([]byte(p.Source.Files[path]))
		b.add(planFact{topic: OnCodebook, subject: path, value: "SHA-256 " + hash[:16], exact: "SHA-256 " + hash})
	}
	for _, w := range Warnings(language.English, p) {
		b.say(OnWarning, "", w, w)
	}
	return b.facts
}

func (b *factBook) sayRelease(p *plan.Plan) {
	about := p.Release().About
	b.say(OnRelease, "", "name", p.Name)
	b.say(OnRelease, "", "title", about.Title)
	b.say(OnRelease, "", "population", about.Population)
	b.say(OnRelease, "", "period", about.Period)
	b.say(OnRelease, "", "contact", about.Contact)
	for _, c := range p.Release().Fit {
		value := "the rest"
		if c.AtMost != nil {
			value = "relative standard error at most " + Percent(c.AtMost)
		}
		b.say(OnRelease, "", "figures that are "+c.Name, value)
	}
	b.say(OnRelease, "", "corrects", p.Corrects)
	b.say(OnRelease, "", "resume", string(p.Resume))
}

func (b *factBook) sayGuarantee(p *plan.Plan) {
	g := p.Guarantee
	say := func(what, value string) { b.say(OnGuarantee, "", what, value) }
	say("definition", definitions[g.Definition])
	for _, amounts := range [][2]string{{"ε", g.Epsilon}, {"δ", g.Delta}, {"ρ", g.Rho},
		{"ρ that the conversion of ρ alone would allow", g.PlainRho}} {
		if r := plan.Amount(amounts[1]); r != nil {
			b.add(planFact{topic: OnGuarantee, what: amounts[0], value: strings.TrimPrefix(budget.Amount(r), "= "),
				exact: amounts[1]})
		}
	}
	for _, e := range g.Equivalents {
		b.add(planFact{topic: OnGuarantee, what: "at δ = " + e.Delta, value: Bound(e),
			exact: fmt.Sprintf("ε = %v by %s", e.Epsilon, e.Method)})
	}
	say("method", Method(language.English, p))
	say("protects", g.Protects)
	say("neighbours", g.Neighbours)
	say("unit", Unit(language.English, g))
	say("rows of a unit that are counted, at most", countedRows(language.English, g.MaxRows, g.Rows))
	say("rows without an id", g.WithoutID)
	b.sayHolders(p)
	say("account", g.Account)
	say("further accounts", strings.Join(g.FurtherAccounts, ", "))
	if p.Release().Privacy.Total {
		say("total", "no value of a readable file stops a run")
	}
	b.say(OnCost, "", "charged to the account", p.Cost.String())
}

func (b *factBook) sayNoise(p *plan.Plan) {
	if asked := p.Release().Budget.Noise; asked != "" {
		b.say(OnBudget, "", "law of the noise", string(asked)+", as the spec asks")
	}
	for _, other := range p.OtherNoise {
		b.say(OnCost, "", otherNoiseName(other), otherNoiseEffect(other, p.Cost.Rho))
	}
}

func (b *factBook) sayLeaves(leaves []plan.Leaf) {
	for _, l := range leaves {
		name := l.Path
		if name == "" {
			name = "the whole budget"
		}
		share := Percent(plan.Amount(l.Share))
		b.addSummary(OnBudget, name, fmt.Sprintf("%s, %s, for %s", share, l.Amount, l.PaysFor()))
		b.add(planFact{topic: OnBudget, subject: name, what: "share", value: share, exact: l.Share})
		b.say(OnBudget, name, "amount", l.Amount.String())
		b.say(OnBudget, name, "pays for", l.PaysFor())
	}
}

// objectives describe what a budget can minimise.
var objectives = map[spec.Objective]string{
	spec.Guarded:      "the sum of weight × variance over all cells, no table worse than by itself with an equal share",
	spec.LeastSum:     "the sum of weight × variance over all cells",
	spec.LeastLargest: "the largest weight × variance of a cell",
}

// summings describe the ways to measure a column along which counts are added up.
var summings = map[strategy.Summing]string{
	strategy.RangedPerLeaf:    "measured for these sums in the leaves that ask for them",
	strategy.RangedEverywhere: "measured for these sums in all leaves",
	strategy.CellByCell:       "measured as others are, so that sums are of cells",
	strategy.LevelsSeparate:   "measured as others are, and every level as a column of its own",
}

func (b *factBook) sayTable(p *plan.Plan, t tableRow, weights map[string]*big.Rat) {
	s := t.Statistics[0]
	by := strings.Join(t.By, ", ")
	if by == "" {
		by = "nothing: a total"
	}
	deviation, margin, noise := budget.DecimalNearest(s.StandardError, 4), "±"+budget.Group(WholeMargin(s.Margin)),
		"measured "+t.measured
	if t.mechanism != nil {
		noise = MechanismText(*t.mechanism) + ", " + ScaleText(*t.mechanism)
	}
	cumulative, neighbours := p.SummedAlong(t.Table)
	up, ranges, sums := strings.Join(cumulative, ", "), strings.Join(neighbours, ", "), ""
	if up != "" {
		sums += ", counting up along " + up
	}
	if ranges != "" {
		sums += ", for ranges of " + ranges
	}
	b.addSummary(OnTable, t.Path, fmt.Sprintf("%s by %s%s; %s; standard error %s, 95%% margin %s",
		budget.Plural(t.Cells, "cell"), by, sums, noise, deviation, margin))
	say := func(what, value string) { b.say(OnTable, t.Path, what, value) }
	say("counts", Counted(language.English, t.Table, p.Guarantee.Protects)+" of "+t.From)
	if t.PerUnit != (spec.PerUnit{}) {
		say("rows of a unit", t.PerUnit.String())
	}
	if t.Show > 0 {
		say("figures shown from a noisy count of", budget.Group(t.Show))
	}
	for _, f := range t.Figures {
		say("figure "+f.Name, figureWithAccuracy(f, t.By))
	}
	say("by", by)
	say("counts up along (cumulative)", up)
	say("sums of neighbours are to be accurate along (ranges)", ranges)
	if weight, ok := weights[t.Marginal]; ok { // diagnostics and bounds have no marginal
		b.add(planFact{topic: OnTable, subject: t.Path, what: "weight", value: budget.Decimal(weight),
			exact: weight.RatString()})
	}
	if t.Target != nil {
		say("target", t.Target.String())
		b.add(planFact{topic: OnTable, subject: t.Path, what: "margin that the target gets", value: "±" +
			budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4), exact: fmt.Sprint(t.Target.Reached)})
	}
	kind := selecting[t.Selects()]
	kind.sayCells(b, t)
	b.sayImpossible(t.Table)
	say("measured", t.measured)
	kind.saySelected(b, t)
	if noise := t.mechanism; noise != nil {
		say("mechanism", MechanismText(*noise))
		b.add(planFact{topic: OnTable, subject: t.Path, what: "scale", value: ScaleText(*noise),
			exact: noise.Parameter.RatString()})
		say("sensitivity", SensitivityText(*noise))
	}
	if t.leaf != leafText("") {
		say("leaf", t.leaf)
	}
	b.add(planFact{topic: OnTable, subject: t.Path, what: "standard error", value: deviation,
		exact: fmt.Sprint(s.StandardError), error: s.StandardError})
	if s.Uneven > 0 {
		b.add(planFact{topic: OnTable, subject: t.Path, what: "largest standard error",
			value: budget.DecimalNearest(s.Uneven, 4),
			exact: fmt.Sprint(s.Uneven), error: s.Uneven})
	}
	if s.OfRanges > 0 {
		b.add(planFact{topic: OnTable, subject: t.Path, what: "standard error of sums of neighbours",
			value: budget.DecimalNearest(s.OfRanges, 4), exact: fmt.Sprint(s.OfRanges), error: s.OfRanges})
	}
	say("95% margin", margin)
}

// sayStrategy says how a group of tables is measured. It omits a table by itself, whose own facts say it.
func (b *factBook) sayStrategy(s strategy.Group) {
	if isOfPart(s) || len(s.Tables) == 1 && s.Kind == strategy.Direct && !inPortions(s) {
		return
	}
	b.addSummary(OnStrategy, Names(s), Strategy(s))
	say := func(what, value string) { b.say(OnStrategy, Names(s), what, value) }
	say("way", measuredText(s))
	say("tables", Listed(s.Tables))
	say("leaf", s.Leaf)
	say("measurements", budget.Group(int64(s.Measurements)))
	b.add(planFact{topic: OnStrategy, subject: Names(s), what: "error", value: budget.DecimalNearest(s.RMSE, 4),
		exact: fmt.Sprint(s.RMSE), error: s.RMSE})
}

// sayTableMicrodata adds the facts of microdata that measure nothing.
func (b *factBook) sayTableMicrodata(s plan.Synthetic, evidence []tabulation.Table) {
	by, of := factorsText(s.By), budget.Plural(int64(len(evidence)), "table")
	b.addSummary(OnMicrodata, s.Table, fmt.Sprintf("%s of %s; of %s, at no cost", rowsText(s), by, of))
	b.sayMicrodataRows(s)
	b.say(OnMicrodata, s.Table, "model of", of)
}

// sayMicrodataRows adds the facts of microdata that do not depend on the method.
func (b *factBook) sayMicrodataRows(s plan.Synthetic) {
	say := func(what, value string) { b.say(OnMicrodata, s.Table, what, value) }
	say("rows", rowsText(s))
	if s.Files > 0 {
		say("files", budget.Group(int64(s.Files)))
	}
	say("columns", factorsText(s.By))
	if s.Parent != "" {
		say("drawn given", "the row of the unit in "+s.Parent+": "+factorsText(s.GivenColumns()))
	}
	say("derived columns", factorsText(s.Derived))
	say("method", s.Method)
	if s.Why != nil {
		say("method chosen because", phrase.InWords(s.Why))
	}
}

func (b *factBook) sayMicrodata(s plan.Synthetic, columns []plan.Measurement) {
	by := factorsText(s.By)
	b.addSummary(OnMicrodata, s.Table, fmt.Sprintf("%s of %s; %s, %s", rowsText(s), by, RoundsOf(s),
		CostText(s.Block, 1)))
	say := func(what, value string) { b.say(OnMicrodata, s.Table, what, value) }
	exactly := func(what, value string, exact *big.Rat) {
		b.add(planFact{topic: OnMicrodata, subject: s.Table, what: what, value: value, exact: exact.RatString()})
	}
	b.sayMicrodataRows(s)
	first, answer, rounds := "choice of a round", "noise of a pair", budget.Group(int64(s.Rounds))
	if s.Method == plan.AIM {
		rounds = "at most " + rounds
		first, answer = "choice of the first round", "noise of the first round"
		say("columns measured together, at most", budget.Group(int64(s.Ways)))
		say("cells of the model, at most", budget.Group(s.LargestModel.Cells))
		say("cells of one of its tables, at most", budget.Group(s.LargestModel.Largest))
	}
	say("rounds", rounds)
	exactly(first, choiceText(s.Select), s.Select.Parameter)
	say("sensitivity", SensitivityText(s.Noise))
	exactly(answer, ScaleText(s.Noise), s.Noise.Parameter)
	widest := WidestNoise(columns)
	exactly("noise of a column", ScaleText(widest), widest.Parameter)
	exactly("cap of all rounds", CostText(s.Block, 1), s.Block.Parameter)
	say("leaf", s.Leaf)
}

// sourceText says where the rows of a table are.
func sourceText(s spec.TableSource) string {
	what := string(s.Format)
	if s.Database != nil {
		what = s.Database.String()
	}
	what = strings.TrimSpace(what + " " + strings.Join(s.Paths, ", "))
	switch {
	case s.Database == nil:
	case s.Database.Engine == spec.Spark:
		what += ", counted there, by a job that dprelease writes"
	case s.Database.Stay:
		what += ", counted there, as its source says (stay: true)"
	default:
		what += ", read and counted here, which is faster than counting there"
	}
	return what
}

func (b *factBook) saySource(t *spec.Table) {
	say := func(what, value string) { b.say(OnSource, t.Name, what, value) }
	say("", sourceText(t.Source))
	if d := t.Source.Database; d != nil && d.Query != "" {
		say("query", d.Query)
	}
	if t.Source.Format == files.CSV {
		say("delimiter", strconv.QuoteRune(t.Source.Delimiter))
		say("texts that mean null", fmt.Sprintf("%q", t.Source.Nulls))
	}
	unit := EachRow
	if !t.Unit.Row {
		unit = "all rows with the same " + t.Unit.ID + ", of which at most " + budget.Group(t.Unit.MaxRows) +
			" are counted"
	}
	say("unit", unit)
	if w := t.Weight; w != nil {
		say("weight", w.From+", "+latticeText(&w.Lattice)+". "+weightText(w))
	}
	if !t.Unit.Row {
		say("a row without an id", policyText(nil, spec.Policy{Action: t.Unit.Null}))
	}
	if w := t.Where; w != nil {
		say("rows that count", "those for which this is true: "+strings.TrimSpace(w.Expression.Text()))
		say("a row of which that cannot be told", policyText(nil, spec.Policy{Action: w.Unknown}))
	}
	if t.Expect != nil {
		say("expected of the files", expectText(t))
	}
}

// joinedAlone reports whether a file is a public table, or holds the figures of an invariant, and is no code book.
func joinedAlone(p *plan.Plan, path string) bool {
	joined := slices.ContainsFunc(p.Release().Invariants, func(i spec.Invariant) bool { return i.File == path })
	for _, t := range p.Release().Tables {
		joined = joined || slices.ContainsFunc(t.Joins, func(j *spec.Join) bool { return j.File == path })
		if slices.ContainsFunc(t.Columns, func(c *spec.Column) bool { return c.Codebook == path }) {
			return false
		}
	}
	return joined
}

// joinText says where a public table is and by which columns rows are joined to it.
func joinText(j *spec.Join) string {
	return fmt.Sprintf("%s, %s, joined by %s", j.File, budget.Plural(int64(j.Rows), "row"), strings.Join(j.On, ", "))
}

// lookupText says where the values of a column are looked up.
func lookupText(l *spec.Lookup) string {
	return fmt.Sprintf("%s.%s, by %s", l.Join, l.Column, strings.Join(l.On, ", "))
}

func (b *factBook) sayColumn(words *spec.Words, t *spec.Table, c *spec.Column) {
	name := t.Name + "." + c.Name
	say := func(what, value string) { b.say(OnColumn, name, what, value) }
	cells := "no cells"
	if c.Domain != nil {
		cells = budget.Plural(int64(c.Domain.Size()), "cell")
	}
	b.addSummary(OnColumn, name, fmt.Sprintf("%s of %s", c.Type, cells))
	switch {
	case c.DerivedFrom != nil:
		say("derived from", c.DerivedFrom.String())
	case c.Lookup != nil:
		say("looked up", lookupText(c.Lookup))
	case c.Grid != nil:
		say("from", gridText(c.Grid))
	default:
		say("from", c.DescribeSource())
	}
	say("type", string(c.Type))
	if l := c.Lattice; l != nil {
		say("values that figures are of", latticeText(l))
	}
	if c.Domain == nil {
		say("a null", policyText(c, c.Null))
		return
	}
	say("cells", budget.Group(int64(c.Domain.Size())))
	say("code book", c.Codebook)
	if c.Map != nil {
		say("map", c.Map.File)
	}
	for _, level := range append([]string{""}, c.Domain.LevelNames()...) {
		what := "level " + level
		if level == "" {
			what = "categories"
		}
		if l, ok := c.Domain.Level(level); ok {
			l = words.Labelled(t.Name, spec.Attribute{Column: c.Name, Level: level}.String(), l)
			b.add(planFact{topic: OnColumn, subject: name, what: what, value: countOf(l), level: l})
		}
	}
	if c.DerivedFrom != nil {
		return // it is not read
	}
	say("an unknown value", policyText(c, c.Unknown))
	say("a null", policyText(c, c.Null))
}

// gridText describes the cells of a grid.
func gridText(g *domain.Grid) string {
	var corners []string
	for _, x := range g.Box {
		corners = append(corners, budget.Decimal(x))
	}
	return fmt.Sprintf("%s and %s, degrees in a grid of %d × %d cells of the box [%s]", g.Longitude, g.Latitude,
		g.X.Size(), g.Y.Size(), strings.Join(corners, ", "))
}

// latticeText describes the possible values of a column.
func latticeText(l *domain.Lattice) string {
	end := func(index int64) string {
		return budget.Decimal(new(big.Rat).Mul(new(big.Rat).SetInt64(index), l.Step))
	}
	text := fmt.Sprintf("multiples of %s from %s to %s", budget.Decimal(l.Step), end(l.First), end(l.Last))
	if l.By == "" {
		return text
	}
	var all []string
	for _, s := range l.Strata {
		all = append(all, end(s.First)+" to "+end(s.Last))
	}
	return text + ", by " + l.By + ": " + strings.Join(all, ", ")
}

// policyText says what happens to a value.
func policyText(c *spec.Column, p spec.Policy) string {
	switch p.Action {
	case spec.Drop:
		return "leaves its row out"
	case spec.As:
		if c.Domain == nil {
			return "counts as a number"
		}
		if finest, ok := c.Domain.Level(""); ok {
			return fmt.Sprintf("counts as %q", finest.Categories[p.Category].Code)
		}
		return "counts as a category of its own"
	}
	return "stops the run"
}

// countOf returns the number of a level's categories, in words.
func countOf(l *domain.Level) string {
	if l.Size() == 1 {
		return "1 category"
	}
	return budget.Group(int64(l.Size())) + " categories"
}
