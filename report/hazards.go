package report

// This file holds the hazards: the ways in which differential privacy goes wrong
// in practice, each with what this very release has to say to it.

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
)

// Hazard is one of them with its answer. The list follows the subjects of NIST SP
// 800-226, "Guidelines for Evaluating Differential Privacy Guarantees" (2025), in
// words of our own.
type Hazard struct {
	Hazard string `json:"hazard"`
	Answer string `json:"answer"`
	By     By     `json:"by"`
}

// By says who answers for a hazard.
type By string

const (
	// Met is answered by the plan and the program.
	Met By = "met"
	// Office is answered by how the office works, which a release cannot show.
	Office By = "office"
	// Weigh is left to those who approve or read the release.
	Weigh By = "weigh"
)

// hazardsOf answers every hazard for a report that is whole but for its
// certificate.
func hazardsOf(r *Report, paid receipt) []Hazard {
	all := []Hazard{
		{"An ε without its terms", "Definition, parameters, unit, neighbours and method are stated together in every report and in the metadata of every table.", Met},
		largeEpsilon(r.Guarantee),
		unitHazard(r.Guarantee),
		rowsHazard(r.Guarantee),
		relaxedHazard(r.Guarantee),
		{"ε compared across different promises", fmt.Sprintf("Hold this ε only against those of releases with the same unit (%s), neighbours (%s) and definition.", r.Guarantee.Unit, r.Guarantee.Neighbours), Met},
		exactHazard(r, paid),
		choicesHazard(r),
		{"Sensitivities worked out wrongly", "The planner derives them from the spec's bounds, which are enforced; whoever checks this release derives them again.", Met},
		compositionHazard(paid),
		floatHazard(r),
		randomnessHazard(r),
		{"Time, memory, messages and logs that tell", "No message, log or file name holds a value, and nothing published depends on how long anything took. Those who can watch the machine while it measures are not covered.", Met},
		{"Trust in those who hold the raw data", "Whoever runs the measurement sees the data: the promise is about everybody who sees only what is published.", Office},
		{"Raw data, working files and backups kept worse than results", "The working folder opens to its owner alone and the key in it is erased; the sources and every backup are the office's to keep.", Office},
		{"More collected than is needed", "A release cannot tell what else is held; it counted only the columns that the spec names.", Office},
		biasHazard(r),
		smallGroups(r),
		syntheticHazard(r),
		untoldHazard(r),
	}
	return append(all, weightHazards(r)...)
}

// weightHazards are those of weights, none where rows have none.
func weightHazards(r *Report) []Hazard {
	if r.Bounds == nil || len(r.Bounds.Weights) == 0 {
		return nil
	}
	h := Hazard{"Weights that depend on others", "The spec says that weights are attributes of the unit. That they were not adjusted to totals of others cannot be seen from the release.", Office}
	if r.Bounds.Calibrated() {
		h.Answer, h.By = "Weights were calibrated, and so depend on the rows of others: the promise is for rows with weights as they are, and what a weight tells of others is not in it.", Weigh
	}
	return []Hazard{h, {"Noise for privacy taken for sampling error", "Counts by weight look like survey estimates with their errors. Every page says that the errors here are of privacy noise alone, and so does the metadata of every table; the sampling error is told nowhere here.", Weigh}}
}

func choicesHazard(r *Report) Hazard {
	h := Hazard{"Bounds, categories or choices taken from the data", "All of them stand in the spec and its code books, which the plan holds whole; the plan was fixed before the data were read.", Met}
	if r.Bounds != nil && len(r.Bounds.Columns) > 0 {
		h.Answer += " Ranges of values stand there too; where bounds are suggested from the data, that is a measurement like any other, paid for and noisy."
	}
	if r.Adapts() {
		h.Answer += " Which columns are measured together for the microdata depends on the data, by choices that are paid for: their loss, with that of what is measured then, was fixed in the plan and debited whole before the first."
	}
	return h
}

func floatHazard(r *Report) Hazard {
	h := Hazard{"Noise in floating point", "Counts, noise and their sum are integers; the parameters of the noise are fractions, and it is drawn exactly.", Met}
	if r.Bounds != nil && len(r.Bounds.Columns)+len(r.Bounds.Weights) > 0 {
		h.Answer += " Values and weights are brought to multiples of their steps, and so to integers, before anything is added."
	}
	if len(r.Figured()) > 0 {
		h.Answer += " Quantiles that are drawn are drawn exactly too. The other figures beside counts are worked out from noisy integers in floating point, which loses nothing more."
	}
	if together(r.Tables) {
		h.Answer += " Tables are put together from the noisy integers in floating point, which loses nothing more: it reads noisy answers alone."
	}
	if r.Adapts() {
		h.Answer += " So are the scores by which the microdata's method chooses, and a choice is drawn exactly too."
	}
	return h
}

func randomnessHazard(r *Report) Hazard {
	const key = " That the key was drawn and erased cannot be seen from outside."
	h := Hazard{"Weak or repeated randomness", "Noise comes from a key of the operating system's generator through HKDF-SHA256, apart for every question and every set of counts; a run that was cut off finds the same noise or refuses.", Met}
	if r.Adapts() {
		h.Answer += " Choices that were made before it was cut off are replayed, and never made anew."
	}
	h.Answer += key
	return h
}

func biasHazard(r *Report) Hazard {
	h := Hazard{"Bias from bounds, from what is left out, and from hiding negatives", "Beside every number that is shown stands its unbiased estimate. What the spec's rules leave out is not in the margin, and the report says so.", Met}
	if len(r.Figured()) > 0 {
		h.Answer = "Beside every count that is shown stands its unbiased estimate. Means, ratios, variances and quantiles are not unbiased, and the report says which figures are."
		if r.Bounds != nil && len(r.Bounds.Columns) > 0 {
			h.Answer += " Values beyond their range count as its end: a bias that no interval holds, and that " + r.toldOfClamping() + "."
			h.By = Weigh
		}
		h.Answer += " What the spec's rules leave out is not in the margin."
	}
	if len(r.Microdata) > 0 {
		h.Answer = ""
		if len(r.Tables) > 0 {
			h.Answer = "Beside every number of a table stands its unbiased estimate. What the spec's rules leave out is not in the margin, and the report says so. "
		}
		h.Answer += "Microdata have no negative counts, and so are biased where counts are small; what was not measured together is biased towards independence, by an amount that nobody knows."
		h.By = Weigh
	}
	return h
}

func syntheticHazard(r *Report) Hazard {
	const hazard = "Synthetic data taken for the truth"
	if len(r.Microdata) == 0 {
		put := ""
		if together(r.Tables) {
			put = ", or put together from noisy counts"
		}
		if len(r.Figured()) > 0 {
			put += ", or drawn or worked out from noisy answers"
		}
		return Hazard{hazard, "There are none in this release: every number is a noisy count with an error of its own" + put + ".", Met}
	}
	tables := "No table gives a figure with its error."
	if len(r.Tables) > 0 {
		tables = "Whoever needs a figure takes it from a table."
	}
	return Hazard{hazard, fmt.Sprintf("The microdata are synthetic: %s rows from a model, nobody's, and marked so in the report and in the file. What they say of columns that were not measured together is the model's assumption. %s", budget.Group(r.drawnRows()), tables), Weigh}
}

func untoldHazard(r *Report) Hazard {
	h := Hazard{"Readers who are not told the error", fmt.Sprintf("Every number has a standard error and an interval that holds the exact count with a chance of %s.", r.Chance()), Met}
	if len(r.Figured()) > 0 {
		h.Answer = fmt.Sprintf("Every count has a standard error and an interval that holds the exact figure with a chance of %s. Every figure beside counts has an interval too, or a flag that says it has none; quantiles have no standard error.", r.Chance())
	}
	if len(r.Microdata) > 0 {
		h.Answer = ""
		if len(r.Tables) > 0 {
			h.Answer = fmt.Sprintf("Every number of a table has a standard error and an interval that holds the exact count with a chance of %s. ", r.Chance())
		}
		h.Answer += fmt.Sprintf("Microdata have none (%s): only how far the model is from the noisy counts is told.", modelOnly)
		h.By = Weigh
	}
	return h
}

func largeEpsilon(g Guarantee) Hazard {
	h := Hazard{"An ε too large to protect", fmt.Sprintf("At ε = %s somebody at even odds guesses right at most %s of the time.", g.Meaning.Epsilon, budget.Percent(g.Meaning.Guess)), Met}
	if g.Meaning.Weak {
		h.Answer, h.By = fmt.Sprintf("ε = %s is above %d: the bound by itself rules out little.", g.Meaning.Epsilon, weakEpsilon), Weigh
	}
	return h
}

func unitHazard(g Guarantee) Hazard {
	const hazard = "A unit that is less than a person"
	if g.Unit == "each row" {
		return Hazard{hazard, fmt.Sprintf("Each row is protected by itself: a %s with several rows is protected less, by each row once more.", g.Protects), Weigh}
	}
	return Hazard{hazard, fmt.Sprintf("%s are protected together, as one %s.", capital(g.Unit), g.Protects), Met}
}

func rowsHazard(g Guarantee) Hazard {
	const hazard = "One unit in many rows"
	if g.Unit == "each row" {
		return Hazard{hazard, "A unit is a row, so it has one; see the unit above.", Weigh}
	}
	counted := "One row of a unit is counted"
	if g.MaxRows > 1 {
		counted = fmt.Sprintf("At most %s rows of a unit are counted", g.counted())
	}
	if g.Rows != nil {
		counted = fmt.Sprintf("Of a unit's rows at most %s are counted, and what it loses in all tables is added up", g.counted())
	}
	return Hazard{hazard, counted + ", drawn by lot under a secret key; the bound is enforced and in the sensitivities.", Met}
}

func relaxedHazard(g Guarantee) Hazard {
	const hazard = "A relaxed definition"
	switch g.Definition {
	case "pure":
		return Hazard{hazard, "None: the promise is pure, without a δ.", Met}
	case "zcdp":
		return Hazard{hazard, fmt.Sprintf("ρ is not an ε. What it comes to is said at δ = %s and more, from the losses of the very mechanisms, rounded up.", g.Meaning.Delta), Met}
	}
	h := Hazard{hazard, fmt.Sprintf("The promise may fail to hold at ε with a chance of at most δ = %s.", g.Meaning.Delta), Met}
	if delta := exact(g.Delta); delta != nil && delta.Cmp(exact("1e-6")) > 0 {
		h.Answer, h.By = fmt.Sprintf("The promise may fail altogether with a chance of up to δ = %s, which is not far below one over the number of units.", g.Meaning.Delta), Weigh
	}
	return h
}

func exactHazard(r *Report, paid receipt) Hazard {
	g := r.Guarantee
	h := Hazard{"A mixture with exact figures", "No exact figure from the data is published here.", Met}
	if given := r.PublicFigures(); given != nil {
		h.Answer = "Public figures are published as they are: the spec gives them, and the program read no data for them. If they were counted in the same data, they are exact figures from it all the same, and no promise covers what they tell, alone or together with the rest."
		h.By = Weigh
	}
	if g.Neighbours == "replace" {
		h.Answer += " How many units there are counts as public."
		if g.Rows != nil {
			h.Answer += " That is in all tables together; how many have rows in one of them does not."
		}
	}
	if paid.Comparisons > 0 {
		h.Answer += fmt.Sprintf(" But results on the account were compared with the truth %s before: what was learned from that is in no budget.", times(paid.Comparisons))
		h.By = Weigh
	}
	return h
}

func compositionHazard(paid receipt) Hazard {
	const hazard = "Losses that are not added up"
	switch {
	case paid.Status == Rehearsal:
		return Hazard{hazard, "A rehearsal reads no data and loses nothing.", Met}
	case paid.Status == Practice:
		return Hazard{hazard, "A practice account paid, whose cap nobody has approved.", Weigh}
	case !paid.Witnessed:
		return Hazard{hazard, "The whole plan was charged to the account before noise was drawn, and a repeated run draws none anew. No witness on another disk or host keeps the newest entry of its ledger for every account that paid, so a rollback of it can go unnoticed.", Weigh}
	}
	return Hazard{hazard, "The whole plan was charged to the account before noise was drawn, and a repeated run draws none anew. A rollback of the account's ledger is noticed by its witness.", Met}
}

func smallGroups(r *Report) Hazard {
	h := Hazard{"Small groups that fare worst", "The noise of a table is the same in every cell, so small groups have the largest relative error; the report shows how that spreads.", Met}
	if uneven(r.Tables) {
		h.Answer = "The noise of a cell does not depend on how many are counted in it, so small groups have the largest relative error; the report shows how that spreads."
	}
	if len(r.Tables) == 0 {
		h.Answer = "Noise moves the small counts that a model rests on by as much as the large ones."
	}
	noisy := int64(0)
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if s.NoiseShare >= noiseShare && !t.Aside {
				noisy++
				break
			}
		}
	}
	if len(r.Figured()) > 0 {
		_, withheld, unbounded := figuresIn(r.Tables)
		h.Answer += fmt.Sprintf(" Means, ratios and the like have the widest intervals there: %s have none, and %s are withheld by the noisy count.", budget.Plural(unbounded, "figure"), budget.Group(withheld))
	}
	if noisy > 0 {
		h.Answer += fmt.Sprintf(" In %s at least half of the cells could be zero.", budget.Plural(noisy, "table"))
		h.By = Weigh
	}
	if len(r.Microdata) > 0 {
		h.Answer += " In microdata a small group may be missing, or be there by noise alone, and nothing tells."
		h.By = Weigh
	}
	return h
}

// toldOfClamping says whether a release tells how many values are clamped.
func (r *Report) toldOfClamping() string {
	if r.diagnosed() {
		return "the tables of what is left out tell of, noisily"
	}
	return "this release does not measure"
}

// Weighed are the hazards that are left to those who approve or read.
func (c Certificate) Weighed() []Hazard {
	var all []Hazard
	for _, h := range c.Hazards {
		if h.By == Weigh {
			all = append(all, h)
		}
	}
	return all
}
