package spec

// This file reads models: what they predict, from which columns, by which method, and which leaf pays for them.

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/shape"
)

// The least and the largest share of rows that are held out.
var leastTest, mostTest = big.NewRat(1, 100), big.NewRat(1, 2)

// modelsShape is the models by name.
func modelsShape() *shape.Shape {
	predict := "{COLUMN: CATEGORY} for the probability of a category, such as {readmitted: \"yes\"}, or a column of numbers"
	return shape.Dictionary("models by name, such as {risk: {table: stays, predict: {readmitted: \"yes\"}, by: [age, days]}}",
		`^`+columnSyntax+`$`,
		shape.Object("{table, predict, by, pairs, method, steps, link, from, test, budget}",
			shape.Field{Key: "table", Shape: shape.Text("a confidential table")},
			shape.Field{Key: "predict", Shape: shape.Choice(predict,
				shape.OnMapping(shape.Dictionary(predict, `^`+columnSyntax+`$`,
					shape.Category("a category of the column"))),
				shape.OnScalar(shape.Text(predict))), Required: "what the model predicts",
				Fix: "predict: {COLUMN: CATEGORY}"},
			shape.Field{Key: "by", Shape: shape.List("a list of attributes, such as [age.band, sex]",
				shape.Text("an attribute, such as age or age.band"), 1, 0),
				Required: "the columns from which it is predicted"},
			shape.Field{Key: "pairs", Shape: pairsShape()},
			shape.Field{Key: "method", Shape: shape.Enum("additive, linear, logistic, gradient or fedavg",
				string(AdditiveModel), string(LinearModel), string(LogisticModel), string(GradientModel),
				string(FederatedModel))},
			shape.Field{Key: "steps",
				Shape: shape.Whole("how many steps each holder takes between two averages, from 1 to 50", 1, 50)},
			shape.Field{Key: "link", Shape: shape.Enum("identity or log", string(IdentityLink), string(LogLink))},
			shape.Field{Key: "from", Shape: shape.Enum("tables", "tables")},
			shape.Field{Key: "test", Shape: shape.Number(
				"the share of rows that are held out, from 1% to 50%, such as 10%")},
			shape.Field{Key: "budget", Shape: shape.Text("a leaf of the budget that pays for nothing else")})).
		Nonempty("at least one model")
}

func (r *reader) readModels(root document.Node) {
	for _, n := range r.Entries(root.Get("models")) {
		if r.IsSound(n) {
			r.readModel(root, n)
		}
	}
}

// readModel reads one model. A model with a problem is left out.
func (r *reader) readModel(root, n document.Node) {
	t := r.modelTable(n)
	if t == nil {
		return
	}
	m := Model{Name: n.Key.Value, Table: t.Name, Test: r.readTest(n.Get("test")), FromTables: n.Get("from").Present()}
	if !m.FromTables {
		r.checkModelSource(n, t)
		m.Leaf = r.readModelLeaf(root, n)
	}
	target := r.readPredicted(t, n.Get("predict"), &m)
	m.Method = ModelMethod(n.Get("method").TextOr(string(AdditiveModel)))
	once := eachColumnOnce("each column once in a model")
	m.By = r.readAttributes(root, t, n.Get("by"), func(a Attribute) (document.Problem, bool) {
		if a.Column == m.Target.Column {
			return document.Problem{Message: fmt.Sprintf("%s is what the model predicts", a.Column),
				Expected: "other columns"}, false
		}
		if l := levelOf(t, a); m.Method != AdditiveModel && l != nil && l.Size() == 1 {
			return document.Problem{Message: fmt.Sprintf("%s has one category, so it tells no rows apart", a),
				Expected: "a column with two categories or more"}, false
		}
		return once(a)
	})
	if !target {
		return
	}
	r.checkMethod(root, n, m)
	m.Steps = r.readSteps(n.Get("steps"), m)
	m.Pairs = r.readPairs(n, m.Method)
	m.Link = r.readLink(t, n.Get("link"), m)
	if m.FromTables {
		r.checkFree(root, n, m)
	} else {
		r.checkModelRelease(n)
	}
	r.release.Models = append(r.release.Models, m)
}

// checkMethod reports what the method of a model cannot do.
func (r *reader) checkMethod(root, n document.Node, m Model) {
	switch at := n.Get("test"); {
	case m.Method != AdditiveModel && m.Method != LinearModel && m.Class < 0:
		r.AddProblem(n.Get("method"), document.Problem{Message: "a logistic regression predicts the probability of a category",
			Expected: "method: linear for a number, or predict: {COLUMN: CATEGORY}", Fix: "method: linear"})
	case m.Method == FederatedModel && !root.Get("holders").Present():
		r.AddProblem(n.Get("method"), document.Problem{
			Message:  "federated averaging is for several holders, and the release has none",
			Expected: "method: gradient, or holders", Fix: "method: gradient"})
	case at.Present() && (m.Method == LinearModel || m.Method == LogisticModel):
		r.WrongKey(at, document.Problem{Message: "a regression that is fitted to sums of products holds out no rows",
			Expected: "no test; additive and gradient models have one"})
	case at.Present() && m.Class < 0:
		r.WrongKey(at, document.Problem{Message: "rows are held out to test a model of a category, and this one " +
			"predicts a number",
			Expected: "no test"})
	}
}

// usualSteps is how many steps each holder takes between two averages unless the spec says otherwise.
const usualSteps = 5

// readSteps reads how many steps each holder takes between two averages; 0 for a method without holders' own steps.
func (r *reader) readSteps(n document.Node, m Model) int {
	switch {
	case m.Method != FederatedModel && n.Present():
		r.WrongKey(n, document.Problem{Message: "only federated averaging has steps of each holder",
			Expected: "no steps, or method: fedavg"})
	case n.Present():
		return int(n.WholeNumber())
	case m.Method == FederatedModel:
		return usualSteps
	}
	return 0
}

// checkFree reports what a model that is made of tables cannot have.
func (r *reader) checkFree(root, n document.Node, m Model) {
	if m.Method != LinearModel && m.Method != LogisticModel {
		r.WrongKey(n.Get("from"), document.Problem{
			Message:  fmt.Sprintf("a model of method %s asks the rows in rounds, and tables are not enough", m.Method),
			Expected: "method: linear or logistic, or a leaf of the budget in place of `from`", Fix: "method: linear"})
	}
	if at := n.Get("budget"); at.Present() {
		r.WrongKey(at, document.Problem{Message: "a model that is made of tables costs nothing", Expected: "no budget"})
	}
	if !root.Get("marginals").Present() {
		r.AddProblem(n.Get("from"), document.Problem{Message: "the release has no tables",
			Expected: "marginals with all pairs of the columns"})
	}
}

// readLink reads how the mean of a number follows from scores.
func (r *reader) readLink(t *Table, n document.Node, m Model) ModelLink {
	if m.Class >= 0 || m.Method != AdditiveModel {
		what := "the probability of a category, whose link is always logit"
		if m.Class < 0 {
			what = "a number by a regression, which adds up to the mean"
		}
		if n.Present() {
			r.WrongKey(n, document.Problem{Message: "the model predicts " + what, Expected: "no link"})
		}
		return ""
	}
	link := ModelLink(n.TextOr(string(IdentityLink)))
	if link == LogLink && strings.HasPrefix(levelOf(t, m.Target).Categories[0].Code, "-") {
		r.AddProblem(n, document.Problem{
			Message:  fmt.Sprintf("%s may be negative, and a mean of link log is above 0", m.Target.Column),
			Expected: "link: identity, or a column whose range begins at 0 or above", Fix: "link: identity"})
	}
	return link
}

// modelTable returns the table of a model, nil if there is a problem with it. It may be left out if only one table is
// confidential.
func (r *reader) modelTable(n document.Node) *Table {
	if at := n.Get("table"); at.Present() {
		return r.findTable(at)
	}
	var only *Table
	for _, t := range r.release.Tables {
		if only != nil {
			r.WrongKey(n, document.Problem{
				Message:  fmt.Sprintf("nothing says whose rows the model %s is fitted to", n.Key.Value),
				Expected: "a table", Fix: "table: " + r.likeliestTable(n).Name})
			return nil
		}
		only = t
	}
	return only
}

// checkModelSource reports a table whose rows stay where they are. A model is fitted to the number of rows with each
// combination of its columns, and few rows share one, so these numbers are nearly the rows.
func (r *reader) checkModelSource(n document.Node, t *Table) {
	d := t.Source.Database
	if d == nil || !d.Stay || d.Engine == DuckDB { // of which stay: true is reported already
		return
	}
	p := document.Problem{
		Message: fmt.Sprintf("rows of %s must not leave the database (stay: true), and a model needs how many rows "+
			"have each combination of its columns, which is nearly the rows",
			t.Name),
		Expected: "a table whose rows are read and counted here: of files, or of a database without stay: true"}
	if d.Engine == Spark {
		p.Message = fmt.Sprintf("rows of %s stay in Spark, and a model needs how many rows have each combination of "+
			"its columns, which is nearly the rows",
			t.Name)
	}
	r.AddProblem(n.Get("table").Or(n.KeyNode()), p)
}

// readModelLeaf reads the leaf that pays for a model. A model that is the whole release needs none.
func (r *reader) readModelLeaf(root, n document.Node) string {
	others := root.Get("marginals").Present() || root.Get("synthetic").Present()
	paid := 0
	for _, m := range r.Entries(root.Get("models")) {
		if !m.Get("from").Present() {
			paid++
		}
	}
	alone := !others && paid == 1
	if leaves := r.leafPaths(); len(leaves) > 0 && leaves[0] == "" && !alone {
		r.WrongKey(n, document.Problem{Message: "the budget has no split, and a model is paid for by a leaf of its own",
			Expected: "a leaf for the model in the budget, and one for the rest",
			Fix:      "split: {tables: 1/2, model: 1/2}"})
		return ""
	}
	leaf := r.readLeaf(n)
	if leaf == "" {
		return ""
	}
	other := r.paidBy(leaf, len(r.release.Synthetic))
	for _, m := range r.release.Models {
		if m.Leaf == leaf && !m.FromTables {
			other = "model " + m.Name
		}
	}
	if other != "" {
		r.AddProblem(n.Get("budget").Or(n.KeyNode()), document.Problem{
			Message:  fmt.Sprintf("leaf %q pays for %s too", leaf, other),
			Expected: "a leaf that pays for this model and nothing else"})
	}
	return leaf
}

// readPredicted reads what a model predicts. It reports whether there is no problem with it.
func (r *reader) readPredicted(t *Table, n document.Node, m *Model) bool {
	m.Class = -1
	at, name := n, n.TextOr("")
	pairs := n.Pairs()
	if len(pairs) > 0 {
		at, name = pairs[0].KeyNode(), pairs[0].Key.Value
	}
	m.Target = Attribute{Column: name}
	if len(pairs) > 1 {
		r.AddProblem(pairs[1], document.Problem{Message: "a second column that the model predicts",
			Expected: "one column; another model predicts another"})
		return false
	}
	r.allowsUnlisted = true // refused below, with the reason
	defer func() { r.allowsUnlisted = false }()
	if !r.checkAttribute(t, at, m.Target, false) {
		return false
	}
	c := t.Column(name)
	level := levelOf(t, m.Target)
	switch {
	case c.Domain == nil || level == nil:
		return false // already reported
	case c.isDiscovered():
		r.AddProblem(at, document.Problem{Message: fmt.Sprintf("the categories of %s are not listed", c.Name),
			Expected: "a column with listed categories"})
		return false
	case level.Size() == 1:
		r.AddProblem(at, document.Problem{
			Message:  fmt.Sprintf("%s has one category, so there is nothing to predict", c.Name),
			Expected: "a column with two categories or more"})
		return false
	case len(pairs) == 0 && c.Type != domain.Integer && c.Type != domain.Decimal:
		r.AddProblem(at, document.Problem{
			Message:  fmt.Sprintf("%s has categories, and a model predicts the probability of one of them", c.Name),
			Expected: fmt.Sprintf("predict: {%s: CATEGORY}, with the category whose probability is wanted", c.Name)})
		return false
	case len(pairs) == 0 && c.Type == domain.Decimal && c.Domain.Ranged():
		r.AddProblem(at, document.Problem{
			Message: fmt.Sprintf("the categories of %s are ranges of decimals, and a model predicts whole numbers",
				c.Name),
			Expected: "a column of integers, such as one that counts hundredths"})
		return false
	case len(pairs) == 0 && (!c.Domain.Ranged() || c.Domain.Declared() != level.Size() ||
		slices.ContainsFunc(level.Categories, isNoInteger)):
		r.AddProblem(at, document.Problem{
			Message:  fmt.Sprintf("not every category of %s is an integer", c.Name),
			Expected: "integers with a range and no step, without categories for unknown or missing values"})
		return false
	case len(pairs) == 0:
		return true
	}
	for i, category := range level.Categories {
		if category.Code == pairs[0].Text() {
			m.Class = i
		}
	}
	if m.Class < 0 {
		r.AddProblem(pairs[0], domain.NoCategory(r.Findings, pairs[0], c.Name, level.Categories))
	}
	return m.Class >= 0
}

// isNoInteger reports whether a category is not one integer.
func isNoInteger(c domain.Category) bool {
	_, err := strconv.ParseInt(c.Code, 10, 64)
	return err != nil
}

// readTest reads the share of rows that are held out.
func (r *reader) readTest(n document.Node) *big.Rat {
	if !n.Present() {
		return nil
	}
	share, ok := r.Number(n)
	if !ok {
		return nil
	}
	if share.Cmp(leastTest) < 0 || share.Cmp(mostTest) > 0 {
		p := document.Problem{Message: "test is " + n.Text(), Expected: "from 1% to 50%", Fix: "test: 50%"}
		if share.Cmp(leastTest) < 0 {
			p.Fix = "test: 1%"
		}
		r.AddProblem(n, p)
	}
	return share
}

// checkModelRelease reports what a release with models cannot have.
func (r *reader) checkModelRelease(n document.Node) {
	if b := r.release.Budget; b.Epsilon != nil && b.Delta == nil {
		r.WrongKey(n, document.Problem{
			Message:  "a budget of ε alone cannot pay for a model: its rounds have Gaussian noise, which has no pure ε",
			Expected: "a budget of {epsilon, delta} or {rho}", Fix: "delta: 1e-9"})
	}
}
