package meaning

import (
	"maps"

	"github.com/dprelease/dprelease/spec/shape"
)

// This file says what the keys of a release mean, except for its tables and marginals.

// Keys returns the meanings of all keys by their paths, except for the keys of statistics, which are defined with the
// readers of statistics. In a path * stands for a name that the spec chooses, and [] for an entry of a list.
func Keys() map[string]shape.Meaning {
	all := map[string]shape.Meaning{}
	for _, some := range []map[string]shape.Meaning{ofRelease, ofTables, ofColumns, ofMarginals} {
		maps.Copy(all, some)
	}
	return all
}

// Pages that explain several keys.
const (
	localPage   = "docs/local.md"
	holdersPage = "docs/holders.md"
)

var ofRelease = map[string]shape.Meaning{
	"version": {States: "The version of the language. There is one.", Example: "1",
		Page: "README.md#the-spec-in-brief"},
	"release": {States: "The name of the release: of its folder, and in the ledger for good. Small letters, " +
		"digits, dots, hyphens and underscores, at most 100 characters. Parameters are filled in.",
		Example: "labour-2026q1", Page: "README.md#the-spec-in-brief"},
	"corrects": {States: "The finished release of the same account that this one corrects. It is measured " +
		"anew, with noise and a debit of its own.", Default: "the release corrects none", Example: "labour-2026q1",
		Page: "docs/howto/correction.md"},
	"params": {States: "Parameters that `--set NAME=VALUE` gives values to and `${NAME}` stands for, in " +
		"names, texts of `about`, and paths.", Default: "there are none",
		Example: "{quarter: {pattern: '20\\d\\dq[1-4]'}}",
		Page:    "docs/spec.md#parameters-and-plans-with-their-parameters-blank"},
	"params.*.pattern": {States: "A regular expression that the whole value must match. A value that could lead to " +
		"another file, by / or a glob, is refused whatever the pattern.", Example: "'20\\d\\dq[1-4]'",
		Page: "docs/spec.md#parameters-and-plans-with-their-parameters-blank"},
	"about": {States: "What readers of the report are told of the release. Nothing is worked out from it.",
		Default: "the report names the release alone",
		Example: "{title: \"Labour force, first quarter of 2026\", contact: statistics office}",
		Page:    "docs/registry.md"},
	"about.title": {States: "The title of the report.", Default: "the name of the release",
		Example: "\"Labour force, first quarter of 2026\""},
	"about.population": {States: "Whom or what the figures are about, for the report and the registry.",
		Default: "the report names no population", Example: "residents aged 15 and over"},
	"about.period": {States: "The time that the figures are about, for the report.",
		Default: "the report names no period", Example: "the first quarter of 2026"},
	"about.language": {States: "The language of report and README.txt: en, English, or de, German.", Default: "en",
		Example: "de", Page: titlesPage},
	"about.contact": {States: "Who answers for the release, for the report and the registry.",
		Default: "the report names nobody", Example: "statistics office"},

	"fit": {States: "Classes of how precise a figure is, from the most precise to the least: each the largest " +
		"relative standard error of its figures. Reports sort the cells of every table into them.",
		Default: "reports speak of errors alone", Example: "{precise: 5%, usable: 20%}",
		Page: "docs/spec.md#how-precise-is-precise-enough"},

	"privacy": {States: "Whom the release protects, and which account pays.",
		Example: "{protects: person, neighbours: add-remove, account: lfs-2026}", Page: "docs/threat-model.md"},
	"privacy.protects": {States: "The noun for a unit in every report. The key `unit` of each table says what a " +
		"unit is in the data.", Example: "person", Page: "README.md#what-is-promised"},
	"privacy.neighbours": {States: "Which data sets count as neighbours, that is, differ by one unit: with " +
		"add-remove the unit is there or not; with replace it has other rows, and the number of units is public.",
		Example: "add-remove", Page: "README.md#what-is-promised"},
	"privacy.account": {States: "The ledger account that is charged, or a list: the release's own first, then those " +
		"of further data sets that it reads. Each is charged in full.", Default: "only a practice account pays, and " +
		"everything is marked PRACTICE, NOT A RELEASE", Example: "lfs-2026", Page: "docs/ledger.md"},
	"privacy.resume": {States: "With never the noise key is in memory alone, and a run that is cut off after its " +
		"debit loses the release.", Default: "the key is kept in the state directory until the measurements are " +
		"durable, and a run that is cut off resumes", Example: "never", Page: "docs/spec.md#a-run-that-is-cut-off"},
	"privacy.total": {States: "If true, no policy may let a value in a readable file stop a run. Then not even a run " +
		"that stops reveals anything of the data.", Default: "false", Example: "true",
		Page: "docs/spec.md#the-contract-of-a-table"},
	"privacy.within": {States: "An attribute whose category of each unit would be public.",
		Default: "nothing of a unit is public", Example: "block.state"},

	"collect": {States: "How answers are collected under local differential privacy, in place of a budget: each " +
		"respondent's device randomises the answer, and only a report leaves it. One collection by a name of your " +
		"choice, which its table names in `collected`.",
		Default: "the tables hold rows of confidential data", Example: "{answers: {protocol: local, epsilon: 2, " +
			"expect: 100000}}", Page: localPage},
	"collect.*.protocol": {States: "`local`: every answer is randomised on the device. Which randomiser is decided " +
		"for each question by the plan.",
		Example: "local", Page: localPage},
	"collect.*.epsilon": {States: "The ε that each respondent loses in all, whatever becomes of the reports.",
		Example: "2", Page: localPage},
	"collect.*.expect": {States: "About how many respondents there will be. The errors of the plan are for this " +
		"number. A `target` is met with so many, so that it decides how often devices draw the question.",
		Example: "100000", Page: localPage},
	"collect.*.shuffled": {States: "Whether somebody trusted mixes the reports before the collector sees them, so " +
		"that none can be traced to its sender. The report then states the stronger promise too, and names the trust.",
		Default: "false", Example: "true", Page: localPage},
	"collect.*.honest": {States: "With `shuffled`, the least number of reports by devices that follow the protocol: " +
		"the stronger promise counts on them, and with fewer reports nothing is published.",
		Default: "there is no shuffler", Example: "50000", Page: localPage},
	"collect.*.delta": {States: "With `shuffled`, the δ of the stronger promise.", Default: "1e-9", Example: "1e-9",
		Page: localPage},
	"collect.*.faulty": {States: "What happens to a report that no device makes, that is of another collector, or " +
		"that was sent twice: with drop it is counted and left out, with error the run stops.",
		Default: "drop", Example: "error", Page: localPage},

	"holders": {States: "Those who each hold a part of the data and make the release together, without showing each " +
		"other anything of them. Each measures its part (`dprelease measure --holder`), and `dprelease combine` adds " +
		"the shares.",
		Default: "all data are in one place", Example: "{keys: {north: keys/north.pub, south: keys/south.pub}, " +
			"units: disjoint, trusted: 1}", Page: holdersPage},
	"holders.keys": {States: "The holders by name. Names stand in the plan and in names of files.",
		Example: "{north: keys/north.pub, south: keys/south.pub}", Page: holdersPage},
	"holders.units": {States: "Whether several holders can have rows of one unit. With `disjoint` each unit's rows " +
		"are with one holder.",
		Example: "disjoint", Page: holdersPage},
	"holders.units.overlap": {States: "How many holders can have rows of one unit, each at most `max_rows` that are " +
		"counted. It multiplies the sensitivity.",
		Example: "2", Page: holdersPage},
	"holders.trusted": {States: "How many holders must keep their noise to themselves: the noise of any so many, by " +
		"itself, meets the guarantee, whatever the others reveal. With fewer than all, the noise is wider.",
		Example: "2", Page: holdersPage},

	"budget": {States: "What the whole release may lose: ε alone (pure), ρ (zero-concentrated), or ε at δ " +
		"(approximate), as exact numbers.", Default: "the release collects randomised answers: `collect`",
		Example: "{epsilon: 1, delta: 1e-9}", Page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.epsilon": {States: "ε: nobody's presence changes the chance of any result by more than a factor of e^ε, " +
		"apart from δ.",
		Default: "the budget is in rho", Example: "1", Page: "README.md#what-is-promised"},
	"budget.delta": {States: "δ of a budget in ε: above 0 and below 1, in practice far below one over the number of units.",
		Default: "the promise is pure", Example: "1e-9", Page: "README.md#what-is-promised"},
	"budget.rho": {States: "ρ of zero-concentrated differential privacy.", Default: "the budget is in epsilon",
		Example: "1/8", Page: "docs/plan.md#which-noise"},
	"budget.minimise": {States: "What the planner makes least in each leaf: the sum over all cells of weight × " +
		"variance, with no table worse than if measured by itself with an equal share (`guarded`); that sum, " +
		"whatever becomes of small tables (`sum`); or the largest weight × variance of any cell (`largest`).",
		Default: "guarded", Example: "sum", Page: "docs/plan.md#what-is-made-least"},
	"budget.noise": {States: "The law of the noise of all tables under ε and δ. The plan says in one line what the " +
		"other law would give, and what it would cost the account.",
		Default: "the planner takes what gives the least error", Example: "gaussian", Page: "docs/plan.md#which-noise"},
	"budget.split": {States: "The tree by which the budget is shared out. A leaf is a wall: its part is kept exactly.",
		Default: "one leaf, which all marginals share", Example: "{headline: 1/2, detail: 1/2}",
		Page: "docs/spec.md#how-marginals-share-a-budget"},

	"budget.split.*.share": {
		States:  "The share that the entry gets of what is left after needed leaves and absolute amounts have been taken out.",
		Default: "the entry is an absolute amount", Example: "1/3", Page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.epsilon": {States: "An absolute amount of ε, if the budget is in ε alone.",
		Default: "the entry is a share, or an amount in rho", Example: "1/10",
		Page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.rho": {States: "An absolute amount of ρ, if the budget is in ρ or in ε and δ.",
		Default: "the entry is a share, or an amount in epsilon", Example: "1/200",
		Page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.split": {States: "The parts of the entry, shared out within it.", Default: "the entry is a leaf",
		Example: "{pairs: 60%, totals: 40%}", Page: "docs/spec.md#how-marginals-share-a-budget"},

	"impossible": {States: "Combinations of categories that are publicly known to occur in no row. Their cells are " +
		"exact zeros that cost nothing.", Default: "every combination is possible",
		Example: "[{where: {age.band: 0–15, status: employed}}]",
		Page:    "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].table": {States: "The confidential table that has no such rows.",
		Default: "the only confidential table", Example: "persons",
		Page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].where": {States: "Attributes with one category, or a list. A row that meets all of them is " +
		"impossible.",
		Example: "{age.band: 0–15, status: [employed, unemployed]}",
		Page:    "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].rows": {States: "What happens to an impossible row that occurs all the same: error stops the run " +
		"before anything is spent, drop leaves the row out.", Default: "error", Example: "drop",
		Page: "docs/spec.md#what-is-decided-and-what-cannot-be"},

	"invariants": {
		States: "Public figures that published counts keep to. They are written in the spec or a file beside it, " +
			"never read from the data, and given away.", Default: "there are none",
		Example: "{totals: {table: persons, by: [region], from: totals.csv}}",
		Page:    "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.table": {States: "The confidential table whose rows the figures count.",
		Default: "the only confidential table",
		Example: "persons", Page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.by": {
		States: "The attributes of the figures: there is one for each combination of their categories. [] is the " +
			"number of rows.",
		Example: "[region]", Page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.from": {
		States: "The CSV file with the figures, beside the spec: a column for each attribute, and one called count. " +
			"It becomes part of the plan, and so public.", Default: "the figures stand under values",
		Example: "totals.csv", Page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.values": {States: "The figures themselves: one number if `by` is empty, or one for each category " +
		"if `by` names one attribute.",
		Default: "the figures stand in a file", Example: "{north: 120, south: 80}",
		Page: "docs/spec.md#figures-that-are-public-already"},

	"synthetic": {States: "Microdata: rows drawn from a model of noisy answers, for each table that is named.",
		Default: "none are made", Example: "{persons: {budget: microdata, by: [age.band, sex, region]}}",
		Page: "docs/spec.md#microdata"},
	"synthetic.*.budget": {States: "The leaf that pays for these microdata, and for nothing else. Method tables has " +
		"none: it spends nothing.", Default: "the leaf with the name of the table, else the leaf called synthetic; " +
		"with method: auto no leaf, if neither exists and marginals count every two columns together",
		Example: "microdata", Page: "docs/spec.md#microdata"},
	"synthetic.*.rows": {States: "How many rows are drawn: as many as the noisy total says, or a number that is " +
		"made public.", Default: "noisy", Example: "100000", Page: "docs/spec.md#microdata"},
	"synthetic.*.method": {States: "How the model is made. auto leaves it to the planner; mst is a tree of measured " +
		"pairs of columns; aim is a model of measured sets of up to three columns, chosen one after another; tables " +
		"is a model of the tables that the release has anyway.", Default: "auto", Example: "mst",
		Page: "docs/spec.md#microdata"},
	"synthetic.*.files": {States: "How many times rows are drawn from the model, each time into a separate file: " +
		"the files differ by the drawing alone.", Default: "once", Example: "5", Page: "docs/spec.md#microdata"},
	"synthetic.*.ways": {States: "How many columns are measured together at most, by method aim: pairs, or sets of " +
		"three as well.", Default: "3, or with method: auto as many as can be counted", Example: "2",
		Page: "docs/spec.md#microdata"},
	"synthetic.*.parent": {States: "The parent table: each row of these microdata belongs to one row of the parent's " +
		"microdata. That row says how many rows are drawn for it, and they are drawn given its values.",
		Default: "the rows belong to no other table", Example: "households",
		Page: "docs/spec.md#microdata-of-households-and-their-members"},
	"synthetic.*.size": {States: "The name of the parent's column that says how many rows belong to each of its rows.",
		Default: "the name of the table", Example: "members",
		Page: "docs/spec.md#microdata-of-households-and-their-members"},
	"synthetic.*.by": {States: "The columns of the microdata, each once, at one level.",
		Default: "all columns of the table at their finest level", Example: "[age.band, sex, region]",
		Page: "docs/spec.md#microdata"},

	"models": {States: "Models that predict a column of a table from others. Each is fitted in noisy rounds and " +
		"published as models/NAME.json.", Default: "none are fitted",
		Example: "{risk: {predict: {readmitted: \"yes\"}, by: [age.band, days], test: 10%, budget: model}}",
		Page:    "docs/spec.md#models"},
	"models.*.table": {States: "The confidential table whose rows the model is fitted to. Its rows are read here: " +
		"they do not stay in a database or in Spark.", Default: "the only confidential table", Example: "stays",
		Page: "docs/spec.md#models"},
	"models.*.predict": {States: "What is predicted: the probability of a category, or the mean of a column of whole numbers.", Example: "{readmitted: \"yes\"}", Page: "docs/spec.md#models"},
	"models.*.by": {States: "The columns from which it is predicted, each at one level and each once.",
		Example: "[age.band, emergency, days]", Page: "docs/spec.md#models"},
	"models.*.pairs": {States: "Pairs of attributes of by that get a table of scores of their own in an additive " +
		"model, for what both together add to the scores of each. They share the budget of the model.",
		Default: "each column has a table, and no two have one together", Example: "[[age.band, emergency]]",
		Page: "docs/spec.md#models"},
	"models.*.method": {States: "How the model is made. additive adds up one score for each column; linear and " +
		"logistic are regressions of noisy sums of products, whose coefficients are published; gradient is a " +
		"logistic regression by gradient descent, which predicts better; fedavg is one that several holders average.",
		Default: "additive", Example: "additive", Page: "docs/spec.md#models"},
	"models.*.steps": {States: "With fedavg, how many steps of gradient descent each holder takes by itself between " +
		"two averages.", Default: "5", Example: "10", Page: "docs/holders.md#models"},
	"models.*.link": {States: "How the mean of a number follows from the scores of an additive model: identity " +
		"adds them up, log multiplies factors, as suits counts.", Default: "identity; a category has the link logit",
		Example: "log", Page: "docs/spec.md#models"},
	"models.*.from": {States: "tables: a regression is made of the published tables of all pairs of its columns, " +
		"and costs nothing.", Default: "the model is fitted to rows, which its leaf pays for", Example: "tables",
		Page: "docs/spec.md#models"},
	"models.*.test": {States: "The share of rows that are held out to measure how well the model predicts. It " +
		"costs no more budget. A model of a number has none, nor has a linear or logistic regression.",
		Default: "no row is held out, and the report does not say how well the model predicts", Example: "10%",
		Page: "docs/spec.md#models"},
	"models.*.budget": {States: "The leaf that pays for the model, and for nothing else. A model that is made of " +
		"tables has none.", Default: "the leaf with the name of the model; the whole budget, if the release has one " +
		"model and nothing else", Example: "model", Page: "docs/spec.md#models"},

	"publish": {States: "What becomes of the estimates when they are written.",
		Default: "each count is its estimate, rounded, and 0 where that is negative", Example: "{integers: consistent}",
		Page: "docs/spec.md#counts-that-add-up"},
	"publish.integers": {
		States: "consistent: the published counts are whole, none is negative, and every sum that two tables share " +
			"is the same in both. The unbiased estimates beside them stay.", Default: "each count is its estimate, " +
			"rounded, and 0 where that is negative", Example: "consistent", Page: "docs/spec.md#counts-that-add-up"},
	"publish.partition_by": {States: "An attribute by which files are split.", Default: "each table is one file",
		Example: "block.state"},
	"publish.tables": {States: "For marginals with `each`, the finest level whose tables are published.",
		Default: "those of every level", Example: "{detailed: county}"},
	"diagnostics": {
		States:  "Noisy counts of what domains, bounds and clamping leave out or change, bought with a part of the budget.",
		Default: "there are none", Example: "{share: 1%}", Page: "docs/spec.md#numbers-not-only-counts"},
	"diagnostics.share": {States: "The part of the whole budget that pays for the diagnostics. The split divides the rest.",
		Example: "1%", Page: "docs/spec.md#numbers-not-only-counts"},
}
