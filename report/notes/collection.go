package notes

// This file writes what is different if respondents' devices randomised the answers.

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// localProtected says what is protected.
func localProtected(l *language.Language, g report.Guarantee) string {
	return l.Text("Nobody but the %[1]s knows what a %[1]s answered: the device of each %[1]s randomised the answer, "+
		"and only that report left it. The promise holds against whoever collects the reports, too.",
		g.Protects)
}

// localFactor says what the factor bounds.
func localFactor(l *language.Language, g report.Guarantee) string {
	return l.Text("Whatever a %s answered, the chance of any report changes by a factor of at most %s (e^ε for ε = "+
		"%s, rounded up).",
		g.Protects, l.Number(g.Meaning.Factor), l.Number(g.Meaning.Epsilon))
}

// localGuess says how well an answer can be guessed.
func localGuess(l *language.Language, g report.Guarantee, right string) string {
	return l.Text("Imagine someone who bets at even odds on which of two answers one %s gave. Without the report "+
		"they guess right 50%% of the time; after seeing the report itself, %s.",
		g.Protects, right)
}

// localLimit says what is not covered.
func localLimit(l *language.Language, g report.Guarantee) string {
	return l.Text("The promise covers the answers to this collection; every other collection from the same %[1]s "+
		"adds to it, and so does another answer to the same question. It does not hide what is true of the whole "+
		"population, nor that somebody took part.",
		g.Protects)
}

// collectionAssumptions lists what the guarantee of a collection depends on and the release cannot show.
func collectionAssumptions(r *report.Report) []string {
	l, g := r.In(), r.Guarantee
	return words.NonEmpty(
		l.Text("The devices, or somebody trusted with the answers in their place, ran the client with the public "+
			"file that follows from the plan published here, and drew from their system's generator."),
		l.Text("Each %s answered on one device, which kept its reports and sent the same again when it was asked again.", g.Protects),
		l.Text("Other collections from the same population are charged to the same account."),
		l.Text("Whether a report was sent had nothing to do with what it says. Somebody who sends a report only if "+
			"it is false, or true, gives the answer away, and makes the figures wrong."),
		l.Text("For the figures, not for the promise: the devices followed the protocol, and which question a device "+
			"drew had nothing to do with whether its report came in."),
		words.When(r.Collection.Shuffled != nil,
			l.Text("For the stronger promise of shuffled reports: the shuffler mixed all of them and kept no record, "+
				"and as many as it says were honest.")),
		l.Text("How many units (each %s) there are is no secret.", g.Protects))
}

// collectionHazards answers every hazard for a collection, as [Hazards] does for tables of rows.
func collectionHazards(r *report.Report, account report.Account, several bool) []report.Hazard {
	l, c := r.In(), r.Collection
	byPlan := func(hazard, answer string) report.Hazard {
		return report.Hazard{Hazard: hazard, Answer: answer, AnsweredBy: report.AnsweredByPlan}
	}
	judged := func(hazard, answer string) report.Hazard {
		return report.Hazard{Hazard: hazard, Answer: answer, AnsweredBy: report.LeftToApprovers}
	}
	moved := l.Text("One can move a count by up to %s, and a hundred that agree by up to %s.",
		l.Number(budget.DecimalNearest(c.MostInfluence(), 3)),
		l.Number(budget.DecimalNearest(100*c.MostInfluence(), 3)))
	if r.Figured() != nil {
		moved = words.When(c.MostInfluence() > 0, moved+" ") +
			l.Text("How far one can move a sum or a mean is shown by `dprelease plan`.")
	}
	return []report.Hazard{
		byPlan(l.Text("An ε without its terms"), l.Text("Definition, parameters, unit, neighbours and method are "+
			"stated together in the report and in every table's metadata.")),
		largeEpsilon(l, r.Guarantee),
		judged(l.Text("A unit that is less than a person"),
			l.Text("A %s who answers on several devices, or whose device forgets what it sent, loses ε each time.",
				r.Guarantee.Protects)),
		judged(l.Text("False reports"),
			l.Text("Nobody can tell a false report from an honest one.")+" "+moved+" "+
				l.Text("Reports that were left out when they were counted, because no device makes them, because "+
					"they are of another collector or question, or because they were sent twice: %s.",
					budget.Group(c.LeftOut()))),
		localRelaxed(r),
		byPlan(l.Text("ε compared across different promises"),
			l.Text("This ε is of local differential privacy, which protects against the collector as well. Compare "+
				"it only with others of that kind.")),
		exactHazard(r, account),
		byPlan(l.Text("Bounds, categories or choices taken from the data"),
			l.Text("All are in the spec and its code books. The plan contains them, and was fixed before the data were read.")),
		byPlan(l.Text("Sensitivities computed wrongly"),
			l.Text("There are none: reports are private before they are counted. The probabilities are in the plan, "+
				"and anyone who verifies this release derives them again.")),
		compositionHazard(r, account, several),
		byPlan(l.Text("Noise in floating point"),
			l.Text("Devices compare random whole numbers of 48 bits with whole numbers. Estimates are computed from "+
				"counts of reports in floating point, which costs no privacy.")),
		byPlan(l.Text("Weak or repeated randomness"),
			l.Text("Each device draws from its system's generator, and keeps a report so that the same answer is "+
				"never randomised twice. Nobody outside can see that it does.")),
		byPlan(l.Text("Time, memory, messages and logs that reveal values"),
			l.Text("The reports to a question have one length, whatever the answer is.")),
		byPlan(l.Text("Trust in those who hold the raw data"),
			l.Text("Whoever collects the reports, keeps them or publishes them learns no more than the promise "+
				"allows. Nobody holds the answers, unless somebody randomised them in place of the devices.")),
		{Hazard: l.Text("More collected than is needed"),
			Answer: l.Text("The devices were asked for the columns that the spec names, and for nothing else; " +
				"what else the page around them asks is not known to this release."),
			AnsweredBy: report.LeftToOffice},
		biasHazard(r),
		byPlan(l.Text("Small groups that fare worst"), l.Text("Small groups have the largest relative error, which "+
			"the report shows.")),
		syntheticHazard(r),
		untoldHazard(r),
	}
}

// localRelaxed answers the hazard of a relaxed definition.
func localRelaxed(r *report.Report) report.Hazard {
	l := r.In()
	h := report.Hazard{Hazard: l.Text("A relaxed definition"), AnsweredBy: report.AnsweredByPlan,
		Answer: l.Text("None: the promise is pure, without a δ.")}
	if s := r.Collection.Shuffled; s != nil {
		h.Answer = l.Text("None for each report, whose promise is pure. The stronger promise for shuffled reports " +
			"has a δ, which is stated with it.")
	}
	return h
}

// collectionChoices says what the planner chose for a collection.
func collectionChoices(r *report.Report) []string {
	l := r.In()
	return []string{
		r.Collection.Asks,
		l.Text("For each question, a report holds as many categories as make the error of a category that nobody has least."),
		l.Text("Every declared cell is published, even if empty: the list of cells comes from the spec, not from the data."),
	}
}

// collectionErrors says which errors the margins include.
func collectionErrors(l *language.Language) report.Note {
	return report.Note{Heading: l.Text("Noise is not sampling error"),
		Text: l.Text("Margins cover the randomisation on the devices, and by which of the respondents a question was " +
			"answered. The error of a sample of respondents, and of wrong or missing answers, comes on top.")}
}

// collectionCount says what the intervals cover.
func collectionCount(l *language.Language, g report.Guarantee) string {
	return l.Text("The margins are about the number of respondents (each %s) whose answer is the category, whether "+
		"or not their device drew the question. An estimate below zero, or above the number of respondents, is shown "+
		"as the nearest possible number.",
		g.Protects)
}
