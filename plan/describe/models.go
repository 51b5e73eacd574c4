package describe

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/design"
	"github.com/dprelease/dprelease/spec"
)

// This file describes models: for the signed page, and for the difference of two plans.

// predicts says what a model predicts.
func predicts(p *plan.Plan, m plan.Model) string {
	if m.Class < 0 {
		return "the mean of " + m.Target.Attribute
	}
	column := p.Release().Table(m.Table).Column(m.Target.Attribute)
	level, _ := column.Domain.Level(m.Target.Level)
	return fmt.Sprintf("the probability that %s is %s", m.Target.Attribute, level.Categories[m.Class].Code)
}

// roundsText says what the rounds of a model ask, with which noise.
func roundsText(m plan.Model, r plan.ModelRounds) string {
	asks := asked[r.Asks]
	if r.Asks == plan.ResidualSums && len(m.Pairs) > 0 {
		asks = "sums of residuals by group of the categories of one column or of one pair"
	}
	rows := math.Sqrt(r.Noise.Variance()) / mostOfRow[r.Asks]
	return fmt.Sprintf("%s of %s, each with %s noise, %s: a standard error of as much as %s rows can add",
		budget.Plural(int64(r.Times), "round"), asks, MechanismText(r.Noise), ScaleText(r.Noise),
		budget.DecimalNearest(rows, 4))
}

// mostOfRow is the most that a row adds to an answer: to a product with the target, about.
var mostOfRow = map[plan.ModelQuestion]float64{
	plan.CountsOfColumn: 1,
	plan.CountsOfTarget: 1,
	plan.ResidualSums:   boosting.Bound,
	plan.GradientSums:   boosting.Bound * design.Scale,
	plan.SquareSums:     design.Scale * design.Scale,
	plan.Products:       design.Scale * design.Scale,
}

// pairsText names the pairs of a model.
func pairsText(m plan.Model) string {
	var all []string
	for _, pair := range m.Pairs {
		all = append(all, fmt.Sprintf("%s × %s", m.By[pair[0]], m.By[pair[1]]))
	}
	return strings.Join(all, ", ")
}

// asked says what a round asks.
var asked = map[plan.ModelQuestion]string{
	plan.CountsOfColumn: "counts of one column each",
	plan.ResidualSums:   "sums of residuals by group of one column's categories",
	plan.CountsOfTarget: "counts of the target's categories",
	plan.GradientSums:   "the gradient (sums of each feature times the residuals)",
	plan.SquareSums:     "sums of squares of the columns",
	plan.Products:       "sums of products of any two columns",
}

// methodText says how a model predicts.
func methodText(m plan.Model) string {
	tables := "each column"
	if len(m.Pairs) > 0 {
		tables = "each column and for each pair " + pairsText(m)
	}
	switch {
	case m.Additive() && m.Link != "":
		return "additive: a table of scores for " + tables + ", whose sum is the logarithm of the mean."
	case m.Additive():
		return "additive: a table of scores for " + tables + ", whose sum decides the prediction."
	case m.Method == spec.LinearModel:
		return "linear: a coefficient with an interval for each number and category."
	}
	switch m.Method {
	case spec.GradientModel:
		return "gradient: a weight for each number and category of a logistic regression, fitted by gradient descent."
	case spec.FederatedModel:
		return fmt.Sprintf("fedavg: a logistic regression. Each holder takes %s of gradient descent by itself, with "+
			"all of the noise, and then the mean of all holders' models is taken, %s.",
			budget.Plural(int64(m.Descent.Steps), "step"), budget.Plural(int64(m.Descent.Rounds), "time"))
	}
	return "logistic: an approximate coefficient, without an interval, for each number and category."
}

// RhoOfModel returns the ρ of all rounds.
func RhoOfModel(m plan.Model) *big.Rat {
	all := new(big.Rat)
	for _, r := range m.Rounds {
		all.Add(all, new(big.Rat).Mul(r.Noise.Rho(), big.NewRat(int64(r.Times), 1)))
	}
	return all
}

// modelCostText says what a model costs.
func modelCostText(m plan.Model) string {
	if m.From != nil {
		return "It is made of the published tables, and costs nothing."
	}
	return "Together they cost " + rhoText(RhoOfModel(m)) + "."
}

// explainModel writes what a model predicts, what is asked for it and what that costs.
func explainModel(p *plan.Plan, b *strings.Builder, m plan.Model) {
	fmt.Fprintf(b, "\nModel %s of %s: it predicts %s from %s\n", m.Name, m.Table, predicts(p, m), factorsText(m.By))
	fmt.Fprintf(b, "  Method %s\n", methodText(m))
	for _, r := range m.Rounds {
		fmt.Fprintf(b, "  Asked: %s.\n", roundsText(m, r))
	}
	if m.Adaptive() {
		b.WriteString("  What a round asks depends on the noisy answers before it. How many rounds there are, and " +
			"their noise, are fixed here.\n")
	}
	fmt.Fprintf(b, "  %s\n", modelCostText(m))
	if m.Test != "" {
		share, _ := plan.Amount(m.Test).Float64()
		fmt.Fprintf(b, "  %s of the rows are held out at random, and test the model. They are in no other round, so "+
			"this costs nothing more.\n",
			budget.Percent(share))
	}
}

// sayModel notes the facts of a model.
func (b *factBook) sayModel(p *plan.Plan, m plan.Model) {
	cost := rhoText(RhoOfModel(m))
	if m.From != nil {
		cost = "of the published tables"
	}
	b.addSummary(OnModel, m.Name, fmt.Sprintf("predicts %s from %s; %s", predicts(p, m), factorsText(m.By), cost))
	say := func(what, value string) { b.say(OnModel, m.Name, what, value) }
	say("method", string(m.Method))
	if len(m.Pairs) > 0 {
		say("pairs", pairsText(m))
	}
	if m.Link != "" {
		say("link", string(m.Link))
	}
	for _, r := range m.Rounds {
		say("rounds: "+string(r.Asks), budget.Group(int64(r.Times)))
		b.add(planFact{topic: OnModel, subject: m.Name, what: "noise: " + string(r.Asks), value: ScaleText(r.Noise),
			exact: r.Noise.Parameter.RatString()})
		say("sensitivity: "+string(r.Asks), SensitivityText(r.Noise))
	}
	if m.Test != "" {
		say("held-out share of rows", m.Test)
	}
	if m.From != nil {
		say("tables", strings.Join(m.From, ", "))
		return
	}
	say("leaf", m.Leaf)
}
