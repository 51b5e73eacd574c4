package notes

// This file answers the hazards: the ways in which differential privacy goes wrong in practice, each with what this
// release does about it.

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// Hazards answers every hazard for a report that is complete except for its certificate, and that an account paid for.
// several says that further accounts paid as well.
func Hazards(r *report.Report, account report.Account, several bool) []report.Hazard {
	if r.Collection != nil {
		return collectionHazards(r, account, several)
	}
	l := r.In()
	all := []report.Hazard{
		{Hazard: l.Text("An ε without its terms"),
			Answer: words.Either(isOfModels(r),
				l.Text("Definition, parameters, unit, neighbours and method are stated together in the report."),
				l.Text("Definition, parameters, unit, neighbours and method are stated together in the report and in "+
					"every table's metadata.")),
			AnsweredBy: report.AnsweredByPlan},
		largeEpsilon(l, r.Guarantee),
		unitHazard(l, r.Guarantee),
		rowsHazard(l, r.Guarantee),
		relaxedHazard(l, r.Guarantee),
		{Hazard: l.Text("ε compared across different promises"),
			Answer: l.Text("Compare this ε only with the ε of releases with the same unit (%s), neighbours (%s) and "+
				"definition.",
				r.Guarantee.Unit, r.Guarantee.Neighbours), AnsweredBy: report.AnsweredByPlan},
		exactHazard(r, account),
		choicesHazard(r),
		{Hazard: l.Text("Sensitivities computed wrongly"),
			Answer: l.Text("The planner derives them from the spec's bounds, which are enforced. Anyone who " +
				"verifies this release derives them again."),
			AnsweredBy: report.AnsweredByPlan},
		compositionHazard(r, account, several),
		floatHazard(r),
		randomnessHazard(r),
		{Hazard: l.Text("Time, memory, messages and logs that reveal values"),
			Answer: l.Text("No message, log or file name holds a value, and nothing published depends on timing. " +
				"Someone who can watch the machine while it measures is not covered."),
			AnsweredBy: report.AnsweredByPlan},
		{Hazard: l.Text("Trust in those who hold the raw data"),
			Answer: l.Text("Whoever runs the measurement sees the data. So does the administrator of a database " +
				"that holds them, who also sees exact counts if the database does the counting. The promise is about " +
				"everybody who sees only what is published."),
			AnsweredBy: report.LeftToOffice},
		{Hazard: l.Text("Raw data, working files and backups kept worse than results"),
			Answer: l.Text("Only its owner can open the working folder, and its key is erased. The office keeps " +
				"sources and backups safe."),
			AnsweredBy: report.LeftToOffice},
		{Hazard: l.Text("More collected than is needed"),
			Answer:     l.Text("A release cannot tell what else is held; it counted only the columns that the spec names."),
			AnsweredBy: report.LeftToOffice},
		biasHazard(r),
		smallGroups(r),
		syntheticHazard(r),
		untoldHazard(r),
	}
	return append(all, weightHazards(r)...)
}

func choicesHazard(r *report.Report) report.Hazard {
	l := r.In()
	return report.Hazard{Hazard: l.Text("Bounds, categories or choices taken from the data"),
		AnsweredBy: report.AnsweredByPlan,
		Answer: l.Text("All are in the spec and its code books. The plan contains them, and was fixed before the "+
			"data were read.") +
			words.When(r.Bounds.OfValues(),
				" "+l.Text("Ranges of values are in the spec, too. If bounds are suggested from the data, the "+
					"suggestion is a measurement like any other, paid for and noisy.")) +
			words.When(r.Adapts(),
				" "+l.Text("Which columns are measured together for the microdata depends on the data. These choices "+
					"are paid for: the privacy loss of all choices, and of the measurements that follow them, was "+
					"fixed in the plan and debited in full before the first choice."))}
}

func floatHazard(r *report.Report) report.Hazard {
	l := r.In()
	return report.Hazard{Hazard: l.Text("Noise in floating point"), AnsweredBy: report.AnsweredByPlan,
		Answer: l.Text("Counts, noise and their sums are integers. The parameters of the noise are fractions, and "+
			"the noise is drawn exactly.") +
			words.When(r.Bounds.OfValues() || r.Bounds.OfWeights(),
				" "+l.Text("Values and weights are rounded to multiples of their steps, and so to integers, before "+
					"anything is added.")) +
			words.When(len(r.Figured()) > 0,
				" "+l.Text("Quantiles that are drawn are drawn exactly, too. All other figures are computed from "+
					"noisy integers in floating point, which costs no further privacy.")) +
			words.When(r.Together(),
				" "+l.Text("Tables are then made from noisy answers alone, so floating point there costs no privacy.")) +
			words.When(r.Adapts(),
				" "+l.Text("The scores by which the method of the microdata chooses what to measure are integers as "+
					"well, and each choice is drawn exactly."))}
}

func randomnessHazard(r *report.Report) report.Hazard {
	l := r.In()
	return report.Hazard{Hazard: l.Text("Weak or repeated randomness"),
		Answer: l.Text("Noise is derived from a key of the operating system's generator by HKDF-SHA256, separately "+
			"for every question and set of counts. A run that was cut off finds the same noise again, or refuses to go on.") +
			words.When(r.Adapts(), " "+l.Text(
				"The choices that such a run had made are replayed and never made again.")) +
			" " + l.Text("Nobody outside can see that the key was drawn and erased."),
		AnsweredBy: report.AnsweredByPlan}
}

func biasHazard(r *report.Report) report.Hazard {
	l := r.In()
	h := report.Hazard{Hazard: l.Text("Bias from bounds, from what is left out, and from hiding negatives"),
		Answer: l.Text("Every published number has an unbiased estimate next to it. The margin does not cover " +
			"what the spec's rules leave out, as the report says."),
		AnsweredBy: report.AnsweredByPlan}
	if len(r.Figured()) > 0 {
		h.Answer = l.Text("Every count that is shown has its unbiased estimate next to it. Means, ratios, variances " +
			"and quantiles are not unbiased; the report says which figures are.")
		if r.Bounds.OfValues() {
			h.Answer += " " + clampedText(r)
			h.AnsweredBy = report.LeftToApprovers
		}
		h.Answer += " " + l.Text("The margin does not cover what the spec's rules leave out.")
	}
	if len(r.Microdata) > 0 {
		h.Answer = words.When(len(r.Tables) > 0,
			l.Text("Every number of a table has its unbiased estimate next to it. The margin does not cover what the "+
				"spec's rules leave out, as the report says.")+" ") +
			l.Text("Microdata have no negative counts, so they are biased where counts are small. What was not "+
				"measured together is biased towards independence, by an amount that nobody knows.")
		h.AnsweredBy = report.LeftToApprovers
	}
	return withModels(r, h,
		l.Text("Every number of a table has its unbiased estimate next to it. The margin does not cover what the "+
			"spec's rules leave out, as the report says."),
		l.Text("Scores and weights of models are shrunk as the noise demands, so predictions are biased where rows are few."))
}

// isOfModels reports whether a release has models and nothing else.
func isOfModels(r *report.Report) bool { return len(r.Tables) == 0 && len(r.Microdata) == 0 }

// withModels adds to the answer to a hazard what is to be said of models, or says that alone if there is nothing else.
// It leaves the answer as it is if there are no models. ofTables is the answer where all else are counts in tables.
func withModels(r *report.Report, h report.Hazard, ofTables, says string) report.Hazard {
	switch {
	case len(r.Models) == 0:
		return h
	case isOfModels(r):
		h.Answer = says
	case len(r.Microdata) == 0 && len(r.Figured()) == 0:
		h.Answer = ofTables + " " + says
	default:
		h.Answer += " " + says
	}
	h.AnsweredBy = report.LeftToApprovers
	return h
}

func syntheticHazard(r *report.Report) report.Hazard {
	l := r.In()
	hazard := l.Text("Synthetic data taken for the truth")
	if len(r.Microdata) == 0 {
		none := noneSynthetic(l, r.Together(), len(r.Figured()) > 0)
		switch {
		case isOfModels(r):
			none = l.Text("This release has none: a model holds no rows.")
		case len(r.Models) > 0:
			none = l.Text("This release has none: tables are made of noisy answers, and a model holds no rows.")
		}
		return report.Hazard{Hazard: hazard, Answer: none, AnsweredBy: report.AnsweredByPlan}
	}
	var drawn int64
	for _, m := range r.Microdata {
		drawn += m.Rows
	}
	tables := words.Either(len(r.Tables) > 0, l.Text("If you need a figure, take it from a table."),
		l.Text("No table gives a figure with its error."))
	return report.Hazard{Hazard: hazard,
		Answer: l.Text("The microdata are synthetic: %s rows that are drawn from a model and belong to nobody. The "+
			"report and the file mark them as such. What they show about columns that were not measured together is "+
			"an assumption of the model.",
			budget.Group(drawn)) + " " + tables, AnsweredBy: report.LeftToApprovers}
}

// noneSynthetic says that a release has no synthetic data, and where its numbers come from.
func noneSynthetic(l *language.Language, together, figured bool) string {
	switch {
	case together && figured:
		return l.Text("This release has none: every number is a noisy count with its own error, or made from noisy " +
			"counts, or drawn or computed from noisy answers.")
	case together:
		return l.Text("This release has none: every number is a noisy count with its own error, or made from noisy counts.")
	case figured:
		return l.Text("This release has none: every number is a noisy count with its own error, or drawn or computed " +
			"from noisy answers.")
	}
	return l.Text("This release has none: every number is a noisy count with its own error.")
}

func untoldHazard(r *report.Report) report.Hazard {
	l := r.In()
	h := report.Hazard{Hazard: l.Text("Readers who are not told the error"), AnsweredBy: report.AnsweredByPlan,
		Answer: words.Either(len(r.Figured()) > 0,
			l.Text("Every count has a standard error and an interval that contains the exact figure with a chance of "+
				"%s. Every other figure has an interval, too, or a flag that says it has none. Quantiles have no "+
				"standard error.",
				r.Chance()),
			l.Text("Every number has a standard error and an interval that contains the exact count with a chance of %s.", r.Chance()))}
	if len(r.Microdata) > 0 {
		h.Answer = words.When(len(r.Tables) > 0,
			l.Text("Every number of a table has a standard error and an interval that contains the exact count with "+
				"a chance of %s.",
				r.Chance())+" ") +
			l.Text("Microdata have neither (%s): the report only says how far the model is from the noisy counts.",
				l.Text(report.ModelOnly))
		h.AnsweredBy = report.LeftToApprovers
	}
	return withModels(r, h,
		l.Text("Every number of a table has a standard error and an interval that contains the exact count with a "+
			"chance of %s.",
			r.Chance()),
		l.Text("Scores of an additive model and coefficients of a linear regression have standard errors. Other "+
			"coefficients, and predictions, have none (%s).",
			l.Text(report.ModelOnly)))
}

func largeEpsilon(l *language.Language, g report.Guarantee) report.Hazard {
	h := report.Hazard{Hazard: l.Text("An ε too large to protect"),
		Answer: l.Text("At ε = %s, someone who bets at even odds guesses right at most %s of the time.",
			l.Number(g.Meaning.Epsilon),
			l.Percent(g.Meaning.Guess)), AnsweredBy: report.AnsweredByPlan}
	if g.Meaning.Weak {
		h.Answer, h.AnsweredBy = l.Text("ε = %s is above %d: the bound by itself rules out little.",
			l.Number(g.Meaning.Epsilon),
			weakEpsilon), report.LeftToApprovers
	}
	return h
}

func unitHazard(l *language.Language, g report.Guarantee) report.Hazard {
	hazard := l.Text("A unit that is less than a person")
	if g.ByRow() {
		return report.Hazard{Hazard: hazard,
			Answer: l.Text("Each row is protected separately. A %s with several rows is protected less: each further "+
				"row adds to the loss.",
				g.Protects), AnsweredBy: report.LeftToApprovers}
	}
	return report.Hazard{Hazard: hazard, Answer: l.Text("%s are protected together, as one %s.",
		words.Capital(g.Unit), g.Protects), AnsweredBy: report.AnsweredByPlan}
}

func rowsHazard(l *language.Language, g report.Guarantee) report.Hazard {
	hazard := l.Text("One unit in many rows")
	if g.ByRow() {
		return report.Hazard{Hazard: hazard, Answer: l.Text("A unit is a single row; see the hazard “A unit that is " +
			"less than a person”."),
			AnsweredBy: report.LeftToApprovers}
	}
	counted := words.Either(g.MaxRows > 1,
		l.Text("At most %s of a unit are counted, chosen at random under a secret key. The bound is enforced, and "+
			"the sensitivities include it.",
			countedRows(l, g)),
		l.Text("One row of a unit is counted, chosen at random under a secret key. The bound is enforced, and the "+
			"sensitivities include it."))
	if g.Rows != nil {
		counted = l.Text("At most %s of a unit are counted, chosen at random under a secret key, and the losses of "+
			"the unit in all tables are added up. The bound is enforced, and the sensitivities include it.",
			countedRows(l, g))
	}
	return report.Hazard{Hazard: hazard, Answer: counted, AnsweredBy: report.AnsweredByPlan}
}

func relaxedHazard(l *language.Language, g report.Guarantee) report.Hazard {
	hazard := l.Text("A relaxed definition")
	switch g.Definition {
	case "pure":
		return report.Hazard{Hazard: hazard, Answer: l.Text("None: the promise is pure, without a δ."),
			AnsweredBy: report.AnsweredByPlan}
	case "zcdp":
		deltas := make([]string, len(g.Equivalents))
		for i, e := range g.Equivalents {
			deltas[i] = l.Number(words.RoundedUp(e.Delta))
		}
		return report.Hazard{Hazard: hazard,
			Answer: l.Text("ρ is not an ε. The corresponding ε is stated at δ = %s. It is computed from the privacy "+
				"losses of the mechanisms that were used, and rounded up.",
				l.List(deltas)), AnsweredBy: report.AnsweredByPlan}
	}
	h := report.Hazard{Hazard: hazard,
		Answer: l.Text("Beyond the factor that ε allows, the chance of a result may differ by at most δ = %s.",
			l.Number(g.Meaning.Delta)),
		AnsweredBy: report.AnsweredByPlan}
	if delta := words.Exact(g.Delta); delta != nil && delta.Cmp(words.Exact("1e-6")) > 0 {
		h.Answer, h.AnsweredBy = l.Text("The promise may fail altogether with a chance of up to δ = %s, which is not "+
			"far below one over the number of units.",
			l.Number(g.Meaning.Delta)), report.LeftToApprovers
	}
	return h
}

func exactHazard(r *report.Report, account report.Account) report.Hazard {
	l, g := r.In(), r.Guarantee
	h := report.Hazard{Hazard: l.Text("A mixture with exact figures"), Answer: l.Text("No exact figure from the data " +
		"is published here."),
		AnsweredBy: report.AnsweredByPlan}
	if len(r.PublicFigures()) > 0 {
		h.Answer = l.Text("Public figures are published as they are: the spec gives them, and the program read no " +
			"data for them. If they were counted in the same data, they are still exact figures from these data, and " +
			"no promise covers what they reveal, alone or together with the rest.")
		h.AnsweredBy = report.LeftToApprovers
	}
	h.Answer += words.When(g.Replaced(), " "+l.Text("The number of units is treated as public.")+
		words.When(g.Rows != nil, " "+l.Text("That is their number in all tables together; how many have rows in one "+
			"of them is not public.")))
	if account.Comparisons > 0 {
		h.Answer += " " + l.Text("But results on the account were compared with the truth %s before: no budget "+
			"covers what was learned from that.",
			l.Times(account.Comparisons))
		h.AnsweredBy = report.LeftToApprovers
	}
	return h
}

func compositionHazard(r *report.Report, account report.Account, several bool) report.Hazard {
	l, status := r.In(), r.Status
	hazard := l.Text("Losses that are not added up")
	charged := words.Either(r.Collection != nil,
		l.Text("What each respondent lost is recorded on the account, once for the collection, however often its "+
			"reports are counted."),
		l.Text("The whole plan was charged to the account before noise was drawn, and a repeated run draws no new noise."))
	switch {
	case status == report.Rehearsal:
		return report.Hazard{Hazard: hazard, Answer: l.Text("A rehearsal reads no data and loses nothing."),
			AnsweredBy: report.AnsweredByPlan}
	case status == report.Practice:
		return report.Hazard{Hazard: hazard, Answer: l.Text("A practice account paid; nobody has approved its cap."),
			AnsweredBy: report.LeftToApprovers}
	case !account.Witnessed:
		return report.Hazard{Hazard: hazard,
			Answer:     charged + " " + unwitnessedText(l, several),
			AnsweredBy: report.LeftToApprovers}
	}
	return report.Hazard{Hazard: hazard,
		Answer:     charged + " " + l.Text("A rollback of the account's ledger is noticed by its witness."),
		AnsweredBy: report.AnsweredByPlan}
}

// unwitnessedText says that no witness notices a rollback of the ledger. several says that several accounts paid.
func unwitnessedText(l *language.Language, several bool) string {
	return words.Either(several,
		l.Text("At least one of the accounts that paid has no witness on another disk or host that keeps the newest "+
			"entry of its ledger, so a rollback of the ledger can go unnoticed."),
		l.Text("The account that paid has no witness on another disk or host that keeps the newest entry of its "+
			"ledger, so a rollback of the ledger can go unnoticed."))
}

func smallGroups(r *report.Report) report.Hazard {
	l := r.In()
	h := report.Hazard{Hazard: l.Text("Small groups that fare worst"), AnsweredBy: report.AnsweredByPlan,
		Answer: words.Either(r.Uneven(),
			l.Text("The noise of a cell does not depend on how many are counted in it, so small groups have the "+
				"largest relative error, which the report shows."),
			l.Text("The noise of a table is the same in every cell, so small groups have the largest relative error, "+
				"which the report shows."))}
	if len(r.Tables) == 0 {
		h.Answer = l.Text("Noise moves the small counts that a model rests on by as much as the large ones.")
	}
	noisy := len(report.TablesWhere(r.Tables, func(t report.Table) bool {
		return !t.Aside &&
			slices.ContainsFunc(t.Statistics,
				func(s report.Statistic) bool { return s.NoiseShare >= report.NoiseShare })
	}))
	if len(r.Figured()) > 0 {
		_, withheld, unbounded := figuresIn(r.Tables)
		h.Answer += " " + l.Text("Means, ratios and the like have their widest intervals in small groups. Figures "+
			"that have no interval: %s; figures that are withheld because the noisy count is small: %s.",
			budget.Group(unbounded), budget.Group(withheld))
	}
	if noisy > 0 {
		h.Answer += " " + l.Text("In %s at least half of the cells could be zero.", l.Plural(int64(noisy), "table"))
		h.AnsweredBy = report.LeftToApprovers
	}
	if len(r.Microdata) > 0 {
		h.Answer += " " + l.Text("In microdata a small group may be missing, or may be there because of noise alone, "+
			"and there is no way to tell.")
		h.AnsweredBy = report.LeftToApprovers
	}
	return h
}
