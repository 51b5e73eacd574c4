package spec

import "github.com/dprelease/dprelease/spec/shape"

// This file holds what every key means: the words that the JSON Schema has beside the rules of a
// shape, and that docs/reference.md is made of. The shapes say what is expected at a key; this says
// what it does, what holds without it, and where more is told.

// Schema is the JSON Schema (draft 2020-12) of a spec: the whole language, with the parts that
// this version does not build described as such. It says what a spec may look like; what the
// parts must be to each other (that a marginal's attributes exist, that shares add up) only
// Parse finds out.
func Schema() []byte { return language().Schema("dprelease spec, version 1", meanings()) }

// meanings has a meaning for every key by its path. A name that the spec chooses stands as *, an
// entry of a list as [].
func meanings() map[string]shape.Meaning {
	all := map[string]shape.Meaning{}
	for _, some := range []map[string]shape.Meaning{releaseMeanings, tableMeanings, columnMeanings, marginalMeanings, statMeanings} {
		for path, m := range some {
			all[path] = m
		}
	}
	return all
}

var releaseMeanings = map[string]shape.Meaning{
	"version":          {Is: "The version of the language. There is one.", Example: "1", Page: "README.md#the-spec-in-brief"},
	"release":          {Is: "The name of the release: of its folder, and in the ledger for good. Small letters, digits, dots, hyphens and underscores, at most 100 characters. Parameters are filled in.", Example: "labour-2026q1", Page: "README.md#the-spec-in-brief"},
	"corrects":         {Is: "The finished release of the same account that this one corrects. It is measured anew, with noise and a debit of its own.", Without: "the release corrects none", Example: "labour-2026q1", Page: "docs/howto/correction.md"},
	"params":           {Is: "Parameters that `--set NAME=VALUE` gives values to and `${NAME}` stands for, in names, texts of `about`, and paths.", Without: "there are none", Example: "{quarter: {pattern: '20\\d\\dq[1-4]'}}", Page: "docs/spec.md#parameters-and-plans-with-their-parameters-blank"},
	"params.*.pattern": {Is: "A regular expression that the whole value must match. A value that could lead to another file, by / or a glob, is refused whatever the pattern.", Example: "'20\\d\\dq[1-4]'", Page: "docs/spec.md#parameters-and-plans-with-their-parameters-blank"},
	"about":            {Is: "What readers of the report are told of the release. Nothing is worked out from it.", Without: "the report names the release alone", Example: "{title: \"Labour force, first quarter of 2026\", contact: statistics office}", Page: "docs/registry.md"},
	"about.title":      {Is: "The title of the report.", Without: "the name of the release", Example: "\"Labour force, first quarter of 2026\""},
	"about.population": {Is: "Whom or what the figures are about, for the report and the registry.", Without: "the report says nothing of it", Example: "residents aged 15 and over"},
	"about.period":     {Is: "The time that the figures are about, for the report.", Without: "the report says nothing of it", Example: "the first quarter of 2026"},
	"about.contact":    {Is: "Who answers for the release, for the report and the registry.", Without: "the report names nobody", Example: "statistics office"},

	"fit": {Is: "Classes of how precise a figure is, from the most precise to the least: each the largest relative standard error of its figures. Reports sort the cells of every table into them.", Without: "reports speak of errors alone", Example: "{precise: 5%, usable: 20%}", Page: "docs/spec.md#how-precise-is-precise-enough"},

	"privacy":            {Is: "Whom the release protects, and which account pays.", Example: "{protects: person, neighbours: add-remove, account: lfs-2026}", Page: "docs/threat-model.md"},
	"privacy.protects":   {Is: "The noun for a unit in every report. What a unit is in the data, `unit` of each table says.", Example: "person", Page: "README.md#what-is-promised"},
	"privacy.neighbours": {Is: "Which data sets are told apart by one unit: with add-remove the unit is there or not; with replace it has other rows, and the number of units is public.", Example: "add-remove", Page: "README.md#what-is-promised"},
	"privacy.account":    {Is: "The ledger account that is charged, or a list: the release's own first, then those of further data sets that it reads. Each is charged in full.", Without: "only a practice account pays, and everything is marked PRACTICE, NOT A RELEASE", Example: "lfs-2026", Page: "docs/ledger.md"},
	"privacy.resume":     {Is: "With never the noise key is in memory alone, and a run that is cut off after its debit loses the release.", Without: "the key is kept in the state directory until the measurements are durable, and a run that is cut off resumes", Example: "never", Page: "docs/spec.md#a-run-that-is-cut-off"},
	"privacy.total":      {Is: "Whether every policy is refused under which a value of a readable file could stop a run, so that not even the stop of a run tells of the data.", Without: "false", Example: "true", Page: "docs/spec.md#the-contract-of-a-table"},
	"privacy.within":     {Is: "An attribute whose category of each unit would be public.", Without: "nothing of a unit is public", Example: "block.state"},

	"budget":          {Is: "What the whole release may lose: ε alone (pure), ρ (zero-concentrated), or ε at δ (approximate), as exact numbers.", Example: "{epsilon: 1, delta: 1e-9}", Page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.epsilon":  {Is: "ε. Nobody's presence changes the chance of any result by more than e^ε (beside δ).", Without: "the budget is in rho", Example: "1", Page: "README.md#what-is-promised"},
	"budget.delta":    {Is: "δ of a budget in ε: above 0 and below 1, in practice far below one over the number of units.", Without: "the promise is pure", Example: "1e-9", Page: "README.md#what-is-promised"},
	"budget.rho":      {Is: "ρ of zero-concentrated differential privacy.", Without: "the budget is in epsilon", Example: "1/8", Page: "docs/plan.md#which-noise"},
	"budget.minimise": {Is: "What the planner makes least in each leaf: the sum over all cells of weight × variance, with no table worse than by itself with an equal share (`guarded`) or whatever becomes of small tables (`sum`), or the largest of any cell.", Without: "guarded", Example: "sum", Page: "docs/plan.md#what-is-made-least"},
	"budget.noise":    {Is: "The law of the noise of all tables under ε and δ: discrete Gaussian or discrete Laplace. The plan says in one line what the other law would give, and what it would cost the account.", Without: "the planner takes what gives the least error", Example: "gaussian", Page: "docs/plan.md#which-noise"},
	"budget.split":    {Is: "The tree by which the budget is shared out. A leaf is a wall: its part is kept exactly.", Without: "one leaf, which all marginals share", Example: "{headline: 1/2, detail: 1/2}", Page: "docs/spec.md#how-marginals-share-a-budget"},

	"budget.split.*.share":   {Is: "The part of an entry that is split again, of what needed leaves and amounts beside it leave.", Without: "the entry is an absolute amount", Example: "1/3", Page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.epsilon": {Is: "An absolute amount, where the budget is of ε alone.", Without: "the entry is a share, or an amount in rho", Example: "1/10", Page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.rho":     {Is: "An absolute amount, where the budget is in ρ or in ε and δ.", Without: "the entry is a share, or an amount in epsilon", Example: "1/200", Page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.split":   {Is: "The parts of the entry, shared out within it.", Without: "the entry is a leaf", Example: "{pairs: 60%, totals: 40%}", Page: "docs/spec.md#how-marginals-share-a-budget"},

	"impossible":         {Is: "Combinations of categories that no row has, as public knowledge. Their cells are exact zeros that cost nothing.", Without: "every combination is possible", Example: "[{where: {age.band: 0–15, status: employed}}]", Page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].table": {Is: "The confidential table that it is of.", Without: "the only one", Example: "persons", Page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].where": {Is: "Attributes with one category, or a list. A row that meets all of them is impossible.", Example: "{age.band: 0–15, status: [employed, unemployed]}", Page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].rows":  {Is: "What happens to a row that is so all the same: error stops the run before anything is spent, drop leaves the row out.", Without: "error", Example: "drop", Page: "docs/spec.md#what-is-decided-and-what-cannot-be"},

	"invariants":          {Is: "Public figures that published counts keep to. They are written in the spec or a file beside it, never read from the data, and given away.", Without: "there are none", Example: "{totals: {table: persons, by: [region], from: totals.csv}}", Page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.table":  {Is: "The confidential table whose rows the figures count.", Without: "the only one", Example: "persons", Page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.by":     {Is: "The attributes of the figures: there is one for each combination of their categories. [] is the number of rows.", Example: "[region]", Page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.from":   {Is: "The CSV file with the figures, beside the spec: a column for each attribute, and one called count. It becomes part of the plan, and so public.", Without: "they stand under values", Example: "totals.csv", Page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.values": {Is: "The figures of no attribute, a number, or of one, by its categories.", Without: "they stand in a file", Example: "{north: 120, south: 80}", Page: "docs/spec.md#figures-that-are-public-already"},

	"synthetic":          {Is: "Microdata: rows drawn from a model of noisy answers, for each table that is named.", Without: "none are made", Example: "{persons: {budget: microdata, by: [age.band, sex, region]}}", Page: "docs/spec.md#microdata"},
	"synthetic.*.budget": {Is: "The leaf that pays for these microdata, and for nothing else. Method tables has none: it spends nothing.", Without: "the leaf called as the table, else the one called synthetic; with method: auto none, where there is neither and marginals count each two columns together", Example: "microdata", Page: "docs/spec.md#microdata"},
	"synthetic.*.rows":   {Is: "How many rows are drawn: as many as the noisy total says, or a number that is made public.", Without: "noisy", Example: "100000", Page: "docs/spec.md#microdata"},
	"synthetic.*.method": {Is: "How the model is made. auto leaves it to the planner; mst is a tree of measured pairs of columns; aim is a model of measured sets of up to three columns, chosen one after another; tables is a model of the tables that the release has anyway.", Without: "auto", Example: "mst", Page: "docs/spec.md#microdata"},
	"synthetic.*.files":  {Is: "How many times rows are drawn from the model, each time others into a file of their own: what differs between files is by the drawing alone.", Without: "once", Example: "5", Page: "docs/spec.md#microdata"},
	"synthetic.*.ways":   {Is: "How many columns are measured together at most, by method aim: pairs, or sets of three as well.", Without: "3, or with method: auto as many as can be counted", Example: "2", Page: "docs/spec.md#microdata"},
	"synthetic.*.parent": {Is: "The table whose microdata have the one row that each row belongs to: rows are drawn given that, and there are as many as it says.", Without: "rows belong to none", Example: "households", Page: "docs/spec.md#microdata-of-households-and-their-members"},
	"synthetic.*.size":   {Is: "What the column of the parent is called that says how many rows belong to a row.", Without: "the name of the table", Example: "members", Page: "docs/spec.md#microdata-of-households-and-their-members"},
	"synthetic.*.by":     {Is: "The columns of the microdata, each once, at one level.", Without: "all columns of the table at their finest level", Example: "[age.band, sex, region]", Page: "docs/spec.md#microdata"},

	"publish":              {Is: "What becomes of the estimates when they are written.", Without: "each count is its estimate, rounded, and 0 where that is negative", Example: "{integers: consistent}", Page: "docs/spec.md#counts-that-add-up"},
	"publish.integers":     {Is: "consistent: the published counts are whole, none is negative, and every sum that two tables share is the same in both. The unbiased estimates beside them stay.", Without: "each count is its estimate, rounded, and 0 where that is negative", Example: "consistent", Page: "docs/spec.md#counts-that-add-up"},
	"publish.partition_by": {Is: "An attribute by which files are split.", Without: "each table is one file", Example: "block.state"},
	"diagnostics":          {Is: "Noisy counts of what domains, bounds and clamping leave out or change, bought with a part of the budget.", Without: "there are none", Example: "{share: 1%}", Page: "docs/spec.md#numbers-not-only-counts"},
	"diagnostics.share":    {Is: "The part of the whole budget that pays for them. The split divides the rest.", Example: "1%", Page: "docs/spec.md#numbers-not-only-counts"},
	"engines":              {Is: "Engines that would count in the place of this program.", Without: "this program counts", Example: "{persons: sql}"},
}

var tableMeanings = map[string]shape.Meaning{
	"tables":                    {Is: "The confidential tables, by names of your choice.", Example: "{persons: {source: {parquet: \"data/*.parquet\"}, unit: row, columns: {sex: {values: [f, m]}}}}", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.source":           {Is: "The files with the rows, of one format. Relative paths start from the spec's folder, or from `--data`.", Example: "{parquet: \"data/lfs-*.parquet\"}", Page: "docs/files.md"},
	"tables.*.source.parquet":   {Is: "Parquet files: a path or glob, or a list of them. Each must reach a file.", Without: "the files are CSV or Arrow", Example: "\"data/lfs-*.parquet\"", Page: "docs/files.md"},
	"tables.*.source.csv":       {Is: "CSV files with a header line, plain or compressed (.gz, .zst).", Without: "the files are Parquet or Arrow", Example: "[\"2025/*.csv.gz\", new.csv]", Page: "docs/files.md"},
	"tables.*.source.arrow":     {Is: "Arrow IPC files (Feather 2) or streams.", Without: "the files are Parquet or CSV", Example: "survey.arrow", Page: "docs/files.md"},
	"tables.*.source.delimiter": {Is: "The character between the fields of a CSV file.", Without: "a comma", Example: "\";\"", Page: "docs/files.md"},
	"tables.*.source.nulls":     {Is: "Texts of a CSV file that mean null, quoted or not.", Without: "the empty text alone", Example: "[\"\", NA]", Page: "docs/files.md"},

	"tables.*.unit":          {Is: "Which rows are one unit, the thing that is protected: all rows with one id, of which at most max_rows are counted; or `row`, where every row is a unit by itself.", Example: "{id: person_id, max_rows: 1}", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.unit.id":       {Is: "The column of the source that tells units apart.", Example: "person_id", Page: "docs/files.md"},
	"tables.*.unit.null":     {Is: "What happens to a row without an id: error stops the run before anything is spent, drop leaves the row out.", Without: "error", Example: "drop", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.unit.max_rows": {Is: "How many rows of a unit are counted at most. Which ones is drawn by lot. Noise grows with it.", Example: "3", Page: "docs/spec.md#the-contract-of-a-table"},

	"tables.*.weight":       {Is: "A column that says how many each row stands for. All counts, sums, means, ratios and quantiles are then weighted.", Without: "every row counts once", Example: "{from: weight, range: [0, 25], step: 0.5, kind: design}", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.from":  {Is: "The column of the source.", Example: "weight", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.range": {Is: "The least and the largest weight. What lies beyond is brought to the end. The largest decides the noise.", Example: "[0, 25]", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.step":  {Is: "The step to which weights are rounded.", Example: "0.5", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.kind":  {Is: "Whether a weight is an attribute of its unit (design), or was adjusted to totals and so depends on other units (calibrated).", Without: "design, with a warning", Example: "design", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.null":  {Is: "What happens to a row without a weight.", Without: "error", Example: "drop", Page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.expect":        {Is: "What complete files hold, of rows that count. It is checked before anything is spent; a failure does not tell the number.", Without: "nothing is asked of the files beyond their columns", Example: "{rows: [40000, 60000], every: [region]}", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.expect.rows":   {Is: "The least and the most rows of all files together. The plan also sets the noise against the middle of it.", Without: "any number", Example: "[40000, 60000]", Page: "docs/plan.md#what-the-tables-will-be-good-for"},
	"tables.*.expect.every":  {Is: "Attributes each of whose declared codes must occur in some row.", Without: "none need", Example: "[region, age.band]", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.where":         {Is: "The condition under which a row counts. It is public.", Without: "all rows count", Example: "country == 'de' and admitted >= 2025-01-01", Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.where.is":      {Is: "The condition, where something is said of unknown values beside it.", Example: "age >= 18", Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.where.unknown": {Is: "What happens to a row with a value that the condition cannot read.", Without: "error", Example: "drop", Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},

	"tables.*.join":             {Is: "Public tables in which columns are looked up, by names of your choice.", Without: "none", Example: "{register: {csv: register.csv, on: ent_id, public: true}}", Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.csv":       {Is: "The CSV file, beside the spec. It becomes part of the plan, and so public.", Without: "the table is of a format that is not read", Example: "register.csv", Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.parquet":   {Is: "A public table in Parquet.", Without: "the table is CSV", Example: "register.parquet"},
	"tables.*.join.*.arrow":     {Is: "A public table in Arrow.", Without: "the table is CSV", Example: "register.arrow"},
	"tables.*.join.*.delimiter": {Is: "The character between the fields of the file.", Without: "a comma", Example: "\";\"", Page: "docs/files.md"},
	"tables.*.join.*.nulls":     {Is: "Texts that mean null in the file.", Without: "the empty text alone", Example: "[\"\", NA]", Page: "docs/files.md"},
	"tables.*.join.*.on":        {Is: "The key: a column, or several, that both tables call by the same name.", Example: "ent_id", Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.public":    {Is: "That every row of the table may be known to anybody. The promise rests on it, so it must be said.", Example: "true", Page: "docs/spec.md#columns-of-a-public-table"},

	"tables.*.sample":         {Is: "A secret sample of the units, drawn anew by `measure`: the same promise for less noise in what is measured.", Without: "all units are measured", Example: "{poisson: 10%}", Page: "docs/spec.md#a-secret-sample"},
	"tables.*.sample.poisson": {Is: "The probability with which each unit is drawn, independently.", Example: "10%", Page: "docs/spec.md#a-secret-sample"},
	"tables.*.columns":        {Is: "The columns that marginals, expectations and microdata use, by names of your choice. Others are not read.", Example: "{sex: {values: [female, male]}}", Page: "docs/spec.md#the-contract-of-a-table"},
}
