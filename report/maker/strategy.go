package maker

// This file describes the strategies: how the tables of a release were measured, and which of them are reconstructed
// from the same answers.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// strategiesOf describes how all tables were measured, in the plan's order, which is also the order of their
// measurements.
func strategiesOf(p *plan.Plan, tables []report.Table) ([]report.Strategy, error) {
	shared := map[string]bool{}
	for _, t := range tables {
		shared[t.Path] = slices.ContainsFunc(t.Statistics, func(s report.Statistic) bool { return s.Mechanism == nil })
	}
	all, left := make([]report.Strategy, len(p.Strategies)), p.Measurements
	for i, s := range p.Strategies {
		if s.Measurements > len(left) {
			return nil, fmt.Errorf("the plan's strategies have more measurements than the plan")
		}
		all[i] = report.Strategy{Leaf: s.Leaf, Kind: string(s.Kind), Noise: string(s.Noise),
			Tables: append([]string{}, s.Tables...), Measurements: s.Measurements, RMSE: s.RMSE,
			Alternatives: []report.Alternative{}}
		own := left[:s.Measurements]
		var err error
		if all[i].Loss, all[i].PartOfBudget, err = spentOn(own, p.Spent()); err != nil {
			return nil, err
		}
		left = left[s.Measurements:]
		if all[i].OfPart() && len(own) > 0 {
			all[i].RMSE, all[i].Noise, all[i].Text = 0, string(own[0].Mechanism.Kind),
				partSentence(languageOf(p), own[0])
			continue
		}
		for _, other := range s.Alternatives {
			all[i].Alternatives = append(all[i].Alternatives, report.Alternative{Kind: string(other.Kind),
				Noise: string(other.Noise),
				RMSE:  other.RMSE, BudgetNeeded: other.BudgetNeeded, Charge: other.Charge,
				Why: other.Why.In(languageOf(p))})
		}
		all[i].Text = strategyText(languageOf(p), all[i], amountOf(p.Cost),
			slices.ContainsFunc(s.Tables, func(path string) bool { return shared[path] }), rangedIn(own))
	}
	return all, nil
}

// partSentence says what is measured for figures.
func partSentence(l *language.Language, m plan.Measurement) string {
	return wordsByKind[m.Query.Counted.Kind()].sentence(l, m, addedUp(l, m.Query, plan.Table{}))
}

// rangedIn returns the columns along which sums of neighbours are measured.
func rangedIn(all []plan.Measurement) []string {
	var columns []string
	for _, m := range all {
		for _, f := range m.Query.Factors {
			if f.Basis == plan.Ranges && !slices.Contains(columns, f.String()) {
				columns = append(columns, f.String())
			}
		}
	}
	return columns
}

// spentOn returns the total cost of measurements, and its share of the charge.
func spentOn(all []plan.Measurement, charge budget.Cost) (report.Amount, float64, error) {
	sum := new(big.Rat)
	for i, m := range all {
		if i > 0 && m.IsDrawn() {
			continue // a device answers one of them
		}
		for _, step := range stepsOf(m) {
			loss, err := lossIn(step, charge)
			if err != nil {
				return report.Amount{}, 0, fmt.Errorf("measurement %s: %w", m.ID, err)
			}
			sum.Add(sum, loss)
		}
	}
	amount, part := partOf(sum, charge)
	return amount, part, nil
}

// strategyText says in words what error the tables have, what was measured for them, and what their error would have
// been with other strategies. charged is the cost of the release; shared reports that a table depends on measurements
// made for others; ranged are the columns along which sums of neighbours are measured.
func strategyText(l *language.Language, s report.Strategy, charged report.Amount, shared bool,
	ranged []string) string {
	b := &strings.Builder{}
	error := l.Number(words.Decimal(s.RMSE))
	b.WriteString(words.Either(ranged == nil, l.Text("Each cell has an error of %s", error),
		l.Text("Each cell, or requested sum, has an error of %s", error)))
	letter := words.Either(s.Loss.Epsilon != "", "ε ", "ρ ")
	if slices.ContainsFunc(s.Alternatives, func(other report.Alternative) bool { return other.BudgetNeeded != "" }) {
		b.WriteString(", " + l.Text("for %s", s.Loss.In(l)))
	}
	b.WriteString(". " + measuredText(l, s, shared, ranged))
	if ranged != nil {
		b.WriteString(" " + l.Text(
			"Along %s, sums of neighbouring categories are measured instead of single categories. This makes the "+
				"error of cumulative counts and of ranges smaller.",
			strings.Join(ranged, " "+l.Text("and")+" ")))
	}
	for _, other := range s.Alternatives {
		switch {
		case other.Why != "":
		case other.BudgetNeeded != "":
			b.WriteString(" " + l.Text("For the same targets, %s would be needed %s",
				letter+l.Number(other.BudgetNeeded),
				otherWay(l, s, other)) + ".")
		default:
			b.WriteString(" " + l.Text("The error would be %s %s", l.Number(words.Decimal(other.RMSE)),
				otherWay(l, s, other)) +
				words.When(other.Charge != "", "; "+l.Text("the account would then be charged ρ = %s instead of %s",
					l.Number(other.Charge), charged.In(l))) + ".")
		}
	}
	for _, other := range s.Alternatives {
		if other.Why != "" {
			b.WriteString(" " + l.Text("It is not possible to %s: %s.",
				l.Text(strategyPhrases[strategy.Kind(other.Kind)].to),
				other.Why))
		}
	}
	return b.String()
}

// measuredText says in words what was measured for the tables.
func measuredText(l *language.Language, s report.Strategy, shared bool, ranged []string) string {
	noise := l.Text(budget.Kind(s.Noise).Name())
	switch strategy.Kind(s.Kind) {
	case strategy.EqualShares:
		return l.Text("Each table is measured by itself, all with equal shares, with %s noise of its own on every "+
			"cell: no other way was found that makes no table worse.",
			noise)
	case strategy.Direct:
		return directText(l, s, shared, ranged, noise)
	case strategy.DrawnQuestions:
		return l.Text("Each table is a question that some of the respondents answered, each by a report of subset selection.")
	case strategy.AllQuestions:
		return l.Text("Each table is a question that every respondent answered, by a report of subset selection.")
	case strategy.Largest:
		return l.Text("Only the tables whose attributes are not all in another one are measured, with %s noise on "+
			"every cell. Every table is computed from all of these that contain it, by adding up their cells.",
			noise)
	case strategy.ResidualsAndTables:
		return l.Text("What the tables have in common is measured once (residuals), with %s noise. Some of the "+
			"tables are measured by themselves as well, so that none is worse than with an equal share. Every table "+
			"is computed from all of these answers that concern it.",
			noise)
	case strategy.Residuals:
		return l.Text("What the tables have in common is measured once, as residuals: the total, then how the "+
			"categories of each attribute differ from their mean, then what pairs of attributes add, and so on, with "+
			"%s noise. Every table is made from these answers.",
			noise)
	}
	return ""
}

// directText says what was measured if some of the tables are measured by themselves, and nothing else.
func directText(l *language.Language, s report.Strategy, shared bool, ranged []string, noise string) string {
	one := len(s.Tables) == 1
	switch {
	case s.Measurements < len(s.Tables):
		return l.Text("%d of these tables are measured by themselves, with %s noise on every cell. Every table is "+
			"computed from all of these measurements that concern it.",
			s.Measurements, noise)
	case ranged != nil:
		return words.Either(one, l.Text("The table is measured by itself, with %s noise.", noise),
			l.Text("Each table is measured by itself, with %s noise.", noise))
	case shared:
		return words.Either(one,
			l.Text("The table is measured by itself, with %s noise of its own on every cell. What other measurements "+
				"say about the same counts is then combined with that.", noise),
			l.Text("Each table is measured by itself, with %s noise of its own on every cell. What other "+
				"measurements say about the same counts is then combined with that.", noise))
	}
	return words.Either(one, l.Text("The table is measured by itself, with %s noise of its own on every cell.", noise),
		l.Text("Each table is measured by itself, with %s noise of its own on every cell.", noise))
}

// strategyPhrases name strategies within a sentence: as a condition, and after "it is not possible to".
var strategyPhrases = map[strategy.Kind]struct{ condition, to string }{
	strategy.Direct: {language.Key("if each table were measured by itself"),
		language.Key("measure each table by itself")},
	strategy.Largest: {language.Key("if only those tables were measured that are contained in no other"),
		language.Key("measure only those tables that are contained in no other")},
	strategy.Residuals: {language.Key("if what the tables have in common were measured (residuals)"),
		language.Key("measure what the tables have in common (residuals)")},
	strategy.EqualShares: {language.Key("if each table were measured by itself, all with equal shares"),
		language.Key("measure each table by itself, all with equal shares")},
	strategy.ResidualsAndTables: {
		language.Key("if what the tables have in common were measured, and some tables by themselves"),
		language.Key("measure what the tables have in common, and some tables by themselves")},
}

// otherWay describes a rejected strategy by its difference from the chosen one: the strategy, the noise, or both.
func otherWay(l *language.Language, s report.Strategy, other report.Alternative) string {
	way, noise := l.Text(strategyPhrases[strategy.Kind(other.Kind)].condition), l.Text(budget.Kind(other.Noise).Name())
	everywhere := other.BudgetNeeded == ""
	switch {
	case other.Noise == s.Noise:
		return way
	case other.Kind == s.Kind && everywhere:
		return l.Text("with %s noise everywhere", noise)
	case other.Kind == s.Kind:
		return l.Text("with %s noise", noise)
	case everywhere:
		return l.Text("%s, with %s noise everywhere", way, noise)
	}
	return l.Text("%s, with %s noise", way, noise)
}

// sources says what a plan's tables are made from.
type sources struct {
	byTable []tableSource // in the plan's order
	agree   [][]int       // tables that are made from the same measurements, by index
	// inconsistent are the columns whose measurements cannot all be reconciled: they are of levels that do not nest, of
	// each level separately, or of sums of neighbours.
	inconsistent []string
	// margins are the margins of the difference of two cells of each table; nil if no noise distribution determines
	// them.
	margins []compiled.DifferenceBound
}

// tableSource says what one table is made from.
type tableSource struct {
	measurements int      // number of measurements that affect it
	sumOf        string   // the measured table of which it is a sum, "" for none
	noise        []string // kinds of noise in shared measurements; none for a single measurement
	rho          *big.Rat // the total loss of them all, which is the loss of its counts
}

// sourcesOf finds the sources of every table.
func sourcesOf(c *compiled.Compiled) (sources, error) {
	p := c.Plan()
	s := sources{byTable: make([]tableSource, len(p.Tables))}
	for i, t := range p.Tables {
		s.byTable[i].measurements = 1
		if m, ok := p.Measurement(t.Statistics[0].Measurement); ok {
			s.byTable[i].rho = m.Mechanism.Rho()
		}
	}
	estimates, err := c.Estimates()
	if err != nil {
		return s, err
	}
	s.margins = compiled.DifferenceBounds(p, estimates)
	for _, e := range estimates {
		s.agree = append(s.agree, e.Tables)
		s.addEstimate(p, e)
	}
	for _, set := range s.agree {
		slices.Sort(set)
	}
	return s, nil
}

// addEstimate counts the measurements that affect the tables of an estimate, and finds the columns that the estimate
// treats as several.
func (s *sources) addEstimate(p *plan.Plan, e compiled.Estimate) {
	column := map[string]int{} // of the estimate, by name
	for marginal, at := range e.Tables {
		for i, f := range p.Query(p.Tables[at]).Factors {
			name := f.Attribute
			of, seen := column[name]
			if seen && of != e.Axes[marginal][i].Column && !slices.Contains(s.inconsistent, name) {
				s.inconsistent = append(s.inconsistent, name)
			}
			column[name] = e.Axes[marginal][i].Column
		}
		affecting := map[int]bool{}
		for _, residual := range e.ResidualsOf(marginal) {
			for _, part := range e.Parts[residual] {
				affecting[part.Source] = true
			}
		}
		if p.Tables[at].Statistics[0].Measurement == "" {
			s.byTable[at] = sourceOf(e, affecting)
		}
	}
}

// sourceOf describes a table that all the given sources of an estimate affect.
func sourceOf(e compiled.Estimate, affecting map[int]bool) tableSource {
	b := tableSource{measurements: len(affecting), rho: new(big.Rat)}
	kinds := map[budget.Kind]bool{}
	for source := range affecting {
		kinds[e.Sources[source].Mechanism.Kind] = true
		if rho := e.Sources[source].Mechanism.Rho(); rho != nil {
			b.rho.Add(b.rho, rho)
		}
		if len(affecting) == 1 && slices.Contains(e.DirectSource, source) {
			b.sumOf = e.Sources[source].ID
		}
	}
	for _, kind := range budget.AllLaws() {
		if kinds[kind] {
			b.noise = append(b.noise, string(kind))
		}
	}
	return b
}
