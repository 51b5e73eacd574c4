package describe

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/hierarchy"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes a collection: the questions that respondents' devices answer with randomised reports.

// Question is a question of a collection, with what follows from its randomiser.
type Question struct {
	Table plan.Table
	counted.Reports
	Share     float64 // of the respondents who answer it
	Influence float64 // how far one report, whatever it says, can move a count; 0 if this is known
	Central   float64 // the standard error of its counts if a trusted office had the answers
}

// Questions returns the questions of a plan's collection, none if there is no collection.
func Questions(p *plan.Plan) []Question {
	if p.Release().Collection == nil {
		return nil
	}
	all := make([]Question, len(p.Measurements))
	for i, m := range p.Measurements {
		q := Question{Table: p.Tables[i], Share: 1}
		q.Reports, _ = m.Reports()
		if q.Chance > 0 {
			q.Share = chanceOf(q.Drawn())
		}
		q.Influence = InfluenceOnCount(p, p.Tables[i], q.Reports, 1/q.Share)
		epsilon, _ := p.Release().Collection.Epsilon.Float64()
		// Laplace noise for an equal share of ε, scale 2/ε′
		q.Central = float64(math.Sqrt2*2*float64(len(all))) / epsilon
		all[i] = q
	}
	return all
}

// chanceOf returns a probability that is given in units of 2^−48.
func chanceOf(units int64) float64 { return float64(units) / (1 << local.ChanceBits) }

// Form is a form of a question of which devices draw one: by its categories, with Width 1, by bands of so many
// neighbouring ones, or by whole texts, or their first characters, with a Length.
type Form struct {
	Width, Length int64
	Share         float64 // of the respondents who answer it
	local.Randomiser
}

// Forms returns the forms of a question, of which a device draws one; none if there is one only.
func (q Question) Forms() (forms []Form) {
	switch {
	case q.Length > 0:
		forms = append(forms, Form{0, 0, chanceOf(q.Chance), q.Randomiser()})
	case len(q.Bands) > 0:
		forms = append(forms, Form{1, 0, chanceOf(q.Chance), q.Randomiser()})
	}
	for _, b := range q.Bands {
		forms = append(forms, Form{b.Width, 0, chanceOf(b.Chance), b.Randomiser()})
	}
	for _, prefix := range q.Prefixes {
		forms = append(forms, Form{0, prefix.Length, chanceOf(prefix.Chance), q.Randomiser()})
	}
	return forms
}

// Name returns what a form of a question is called.
func (f Form) Name(l *language.Language, question string) string {
	switch {
	case f.Length > 0:
		return l.Text("%s, first %s", question, l.Plural(f.Length, "character"))
	case f.Width == 0:
		return l.Text("%s, whole texts", question)
	case f.Width == 1:
		return l.Text("%s, single categories", question)
	}
	return l.Text("%s, in bands of %s", question, budget.Group(f.Width))
}

// TextsText says of each question for texts that nobody lists how these are found.
func TextsText(l *language.Language, p *plan.Plan) string {
	var texts []string
	for _, q := range Questions(p) {
		if q.Length > 0 {
			texts = append(texts, l.Text("The device draws how many of the first characters of the answer to %s it "+
				"reports, or that it reports the whole text. First characters that more reports hold than chance "+
				"explains are followed to the next length. The texts found are counted by the reports of whole texts alone.",
				q.Table.Path))
		}
	}
	return strings.Join(texts, " ")
}

// BandsText says of each question that devices answer in bands how they do.
func BandsText(l *language.Language, p *plan.Plan) string {
	var texts []string
	for _, q := range Questions(p) {
		if len(q.Bands) == 0 {
			continue
		}
		var widths []string
		for _, b := range q.Bands {
			widths = append(widths, budget.Group(b.Width))
		}
		texts = append(texts, l.Text("The answer to %s is reported as it is, or as the band of neighbouring "+
			"categories of %s that holds it, in bands of %s.",
			q.Table.Path, q.Along, l.List(widths)))
	}
	if texts != nil {
		texts = append(texts, l.Text("The device draws which form it reports. The estimates put all forms together "+
			"by weighted least squares, so that sums of neighbouring categories have less error."))
	}
	return strings.Join(texts, " ")
}

// categories is how many categories a report chooses among, but for those that make up a prime.
func (q Question) categories() int64 { return q.Table.Cells * max(1, q.Points) }

// pointsText says how a question for numbers is answered; "" for another one.
func (q Question) pointsText(p *plan.Plan) string {
	if q.Of == "" {
		return ""
	}
	values := q.PointValues(p.Release().Table(q.Table.From).Column(q.Of).Lattice)
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = budget.DecimalNearest(v, 4)
	}
	if len(texts) > mostPointsListed {
		texts = []string{texts[0], texts[1], "…", texts[len(texts)-1]}
	}
	text := fmt.Sprintf("%s asks for %s, a number: the device rounds it up or down at random to one of %d points "+
		"(%s), with probabilities that keep its average right.",
		q.Table.Path, q.Of, q.Points, strings.Join(texts, ", "))
	if q.Table.Cells > 1 {
		text += fmt.Sprintf(" The %d categories are %d cells × %d points.", q.categories(), q.Table.Cells, q.Points)
	}
	return text
}

// mostPointsListed is how many points are listed.
const mostPointsListed = 8

// influenceOn returns how far one report, whatever it says, can move a sum or a mean of numbers in a cell of average
// size.
func (q Question) influenceOn(f plan.Figure, rows *spec.Table, respondents int64) float64 {
	law := local.Weighted{Randomiser: q.Randomiser(), Respondents: respondents,
		Weights: q.PointValues(rows.Column(q.Of).Lattice),
		Reports: max(1, int64(math.Round(float64(q.Share*float64(respondents)))))}
	if statistic.OfFigure(f).Additive() {
		return law.MostInfluence()
	}
	most, values := 0.0, slices.Clone(law.Weights)
	for _, mean := range []float64{values[0], values[len(values)-1]} { // as it is at first
		for i, v := range values {
			law.Weights[i] = v - mean
		}
		most = max(most, law.MostInfluence())
	}
	return most / float64(f.Quality.Rows)
}

// centralError is the standard error of a sum or a mean of numbers in a cell of average size if a trusted office had
// the answers, by Laplace noise for an equal share of ε.
func (q Question) centralError(f plan.Figure, rows *spec.Table) float64 {
	l := rows.Column(q.Of).Lattice
	step, _ := l.Step.Float64()
	half := float64(step*float64(l.Last-l.First)) / 2 // which an answer is from the middle of the range, at most
	if !statistic.OfFigure(f).Additive() {
		return float64(q.Central*half) / float64(f.Quality.Rows)
	}
	if q.Table.Cells == 1 {
		return float64(q.Central * half)
	}
	return float64(q.Central * float64(step*math.Max(math.Abs(float64(l.First)), math.Abs(float64(l.Last)))))
}

// InfluenceOnCount returns how far one report, whatever it says, can move a count that a table shows, if one in so many
// respondents answers the question. Where all respondents are in the one cell of a table, their number is known.
func InfluenceOnCount(p *plan.Plan, t plan.Table, r counted.Reports, oneIn float64) float64 {
	if t.Cells == 1 {
		return 0
	}
	switch {
	case len(r.Bands) > 0:
		return influenceOnBands(p, t, r, oneIn)
	case r.Length > 0:
		oneIn *= float64(r.Drawn()) / float64(r.Chance)
	}
	weights := slices.Repeat([]float64{1}, int(max(1, r.Points)))
	return float64(oneIn * local.Weighted{Randomiser: r.Randomiser(), Respondents: 1, Reports: 1,
		Weights: weights}.MostInfluence())
}

// influenceOnBands is [InfluenceOnCount] for a question that devices answer in bands.
func influenceOnBands(p *plan.Plan, t plan.Table, r counted.Reports, oneIn float64) (most float64) {
	of, _ := p.Query(t).Along(p.Release(), r.Along)
	levels := r.Levels(append([]int64{r.Chance}, make([]int64, len(r.Bands))...))
	for i, b := range r.Bands {
		levels[i+1].Reports = b.Chance
	}
	cumulative, _ := p.SummedAlong(t)
	for _, sum := range hierarchy.New(of, r.Drawn(), levels).Shown(cumulative != nil) {
		most = max(most, sum.MostInfluence())
	}
	return float64(oneIn * most)
}

// chanceText writes a probability as a decimal, and exactly.
func chanceText(chance *big.Rat) string {
	near, _ := chance.Float64()
	return budget.DecimalNearest(near, 4) + " = " + chance.RatString()
}

// AsksText says what a device answers.
func AsksText(l *language.Language, p *plan.Plan) string {
	questions := l.Plural(int64(len(p.Measurements)), "question")
	switch {
	case len(p.Measurements) == 1 && !p.Measurements[0].IsDrawn():
		return l.Text("Each device answers one question, and sends a randomised report of the answer.")
	case len(p.Measurements) == 1:
		return l.Text("Each device answers one question, in one of the forms below. It draws the form whatever the " +
			"answer is, and sends one randomised report.")
	case p.Measurements[0].IsDrawn():
		return l.Text("Each device draws one of %s, whatever the answers are, and sends a randomised report of that "+
			"answer alone.",
			questions)
	}
	return l.Text("Each device answers all %s and sends a randomised report of each, with an equal part of ε: at "+
		"this ε that leaves less error than one question each.",
		questions)
}

// ShuffledText says what shuffling adds to the promise, "" for nothing.
func ShuffledText(l *language.Language, p *plan.Plan) string {
	s := p.Guarantee.Shuffled
	if s == nil {
		return ""
	}
	return l.Text("The reports are shuffled by somebody who is trusted to do so. If that is done, and at least %s "+
		"reports are honest, whoever sees the shuffled reports learns no more than %s at δ = %s allows (Feldman, "+
		"McMillan and Talwar 2021). That somebody took part is not hidden.",
		budget.Group(s.Honest), l.Number(Bound(plan.Equivalent{Epsilon: s.Epsilon})),
		l.Number(budget.DecimalUp(plan.Amount(s.Delta), 4)))
}

// explainCollection is [Explain] for a plan whose answers are randomised on devices.
func explainCollection(c *compiled.Compiled, w io.Writer) error {
	p, l := c.Plan(), language.English
	questions, n := Questions(p), p.Release().Collection.Expect
	b := &strings.Builder{}
	fmt.Fprintf(b, "Plan of release %s", p.Name)
	if p.Release().About.Title != "" {
		fmt.Fprintf(b, ": %s", p.Release().About.Title)
	}
	fmt.Fprintf(b, "\n\nPromises %s\n\n", Guarantee(l, p))
	explainGovernance(p, b)
	fmt.Fprintf(b, "How answers are collected\n  %s\n  %s\n", AsksText(l, p),
		"The collector sees reports only. A report is a set of categories: it holds the true one with probability p, "+
			"and another given one with probability q.")
	if bands := BandsText(l, p); bands != "" {
		fmt.Fprintf(b, "  %s\n", bands)
	}
	if found := TextsText(l, p); found != "" {
		fmt.Fprintf(b, "  %s\n", found)
		for _, q := range questions {
			if q.Length > 0 {
				fmt.Fprintf(b, "  %s\n", Found(l, q.Table.Texts))
			}
		}
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  question\tcategories\tasked of\tin a report\tp\tq\tbits")
	for _, q := range questions {
		if q.Forms() != nil {
			fmt.Fprintf(t, "  %s\t\t%s\t\t\t\t\n", q.Table.Path, budget.Percent(q.Share))
		} else {
			writeRandomiser(t, q.Table.Path, q.categories(), q.Share, q.Randomiser(), q.Bits())
		}
		for _, f := range q.Forms() {
			bits := f.Categories
			if !q.HasSums() {
				bits = q.Bits()
			}
			writeRandomiser(t, f.Name(l, q.Table.Path), f.Categories, f.Share, f.Randomiser, bits)
		}
	}
	t.Flush()
	for _, q := range questions {
		if text := q.pointsText(p); text != "" {
			fmt.Fprintf(b, "  %s\n", text)
		}
	}
	explainCollectedCounts(b, questions, n)
	explainRanges(p, b)
	explainCollectedNumbers(b, p, questions)
	for _, q := range questions {
		if line := targetText(q, n); line != "" {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
	if shuffled := ShuffledText(l, p); shuffled != "" {
		fmt.Fprintf(b, "\n%s\n", shuffled)
	}
	for _, warning := range Warnings(l, p) {
		fmt.Fprintf(b, "\nBefore you sign: %s.\n", warning)
	}
	fmt.Fprintf(b, "\n%s in %s, %s of memory to count. Plan hash %s\n", cellsAndTexts(p),
		budget.Plural(int64(len(p.Tables)), "table"), BytesText(p.Size.Bytes), c.Hash())
	_, err := io.WriteString(w, b.String())
	return err
}

// writeRandomiser writes how a question, or a form of it, is reported.
func writeRandomiser(w io.Writer, name string, categories int64, share float64, r local.Randomiser, bits int64) {
	own, other := r.Chances()
	fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%d\n", name, budget.Group(categories), budget.Percent(share),
		budget.Group(r.Support), chanceText(own), chanceText(other), bits)
}

// explainCollectedCounts says how precise the counts will be. Where all respondents are in one cell their number is
// known.
func explainCollectedCounts(b *strings.Builder, questions []Question, respondents int64) {
	fmt.Fprintf(b, "\nHow precise the counts will be, if %s respond\n", budget.Group(respondents))
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  question\tstd. error\t95% margin\tat most\tone false report\tstd. error if a trusted office "+
		"had the answers")
	for _, q := range questions {
		if q.Table.Cells == 1 {
			fmt.Fprintf(t, "  %s\tknown\t±0\t±0\t–\t–\n", q.Table.Path)
			continue
		}
		s := q.Table.Statistics[0]
		fmt.Fprintf(t, "  %s\t%s\t±%s\t±%s\t%s\t%s\n", q.Table.Path, budget.DecimalNearest(s.StandardError, 4),
			budget.Group(WholeMargin(float64(budget.NormalQuantile((1-s.Confidence)/2)*s.StandardError))),
			budget.Group(WholeMargin(s.Margin)), budget.DecimalNearest(q.Influence, 3),
			budget.DecimalNearest(q.Central, 3))
	}
	t.Flush()
	b.WriteString("  Counts are of all respondents, whether or not they drew the question. Errors are of a cell of " +
		"average size; the second margin is of the cell with the widest interval.\n" +
		"  One false report: how far a report that is added can move a figure, whatever it says. Nobody can tell it " +
		"from an honest one.\n" +
		"  A trusted office would add Laplace noise, with ε divided equally among the questions.\n")
}

// explainCollectedNumbers says how precise the sums and means of numbers will be, if there are any.
func explainCollectedNumbers(b *strings.Builder, p *plan.Plan, questions []Question) {
	if !slices.ContainsFunc(questions, func(q Question) bool { return q.Of != "" }) {
		return
	}
	b.WriteString("\nHow precise the sums and means will be\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  question\tfigure\trespondents in a cell\tstd. error\t95% margin\tone false report\tstd. error "+
		"if a trusted office had the answers")
	for _, q := range questions {
		rows := p.Release().Table(q.Table.From)
		for _, f := range q.Table.Figures {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t±%s\t%s\t%s\n", q.Table.Path, f.Name, budget.Group(f.Quality.Rows),
				budget.DecimalNearest(f.Quality.StandardError, 4), budget.DecimalNearest(f.Quality.Margin, 4),
				budget.DecimalNearest(q.influenceOn(f, rows, p.Release().Collection.Expect), 3),
				budget.DecimalNearest(q.centralError(f, rows), 3))
		}
	}
	t.Flush()
	b.WriteString("  Errors are for a cell of average size and the least favourable numbers; with real answers they " +
		"are usually smaller.\n")
}

// targetText says that a question meets its target, and with how many respondents it would just do so, the target
// being taken as a share of them; "" without a target.
func targetText(q Question, expected int64) string {
	t := q.Table.Target
	if t == nil {
		return ""
	}
	margin, _ := plan.Amount(t.Margin).Float64()
	ratio := t.Reached / margin
	return fmt.Sprintf("The target of %s, %s, is met with ±%s. As a share of the respondents, %s, it takes about %s of them.",
		q.Table.Path, t, budget.Group(WholeMargin(t.Reached)), budget.Percent(margin/float64(expected)),
		budget.Group(int64(math.Ceil(float64(expected)*float64(ratio*ratio)))))
}

// influenceWarnings warn of how much false reports can do.
func influenceWarnings(l *language.Language, p *plan.Plan) []string {
	most, questions := 0.0, Questions(p)
	for _, q := range questions {
		most = max(most, q.Influence)
	}
	switch {
	case questions == nil:
		return nil
	case most == 0: // all counts are known
		return []string{l.Text("nobody can tell a false report from an honest one, and a hundred that agree move a " +
			"sum or a mean a hundred times as far as one")}
	}
	return []string{l.Text("nobody can tell a false report from an honest one: each can move a count by up to %s, "+
		"and a hundred that agree by up to %s",
		l.Number(budget.DecimalNearest(most, 3)), l.Number(budget.DecimalNearest(100*most, 3)))}
}
