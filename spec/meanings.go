package spec

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
func meanings() map[string]meaning {
	all := map[string]meaning{}
	for _, some := range []map[string]meaning{releaseMeanings, tableMeanings, columnMeanings, marginalMeanings, statMeanings} {
		for path, m := range some {
			all[path] = m
		}
	}
	return all
}

var releaseMeanings = map[string]meaning{
	"version":          {is: "The version of the language. There is one.", example: "1", page: "README.md#the-spec-in-brief"},
	"release":          {is: "The name of the release: of its folder, and in the ledger for good. Small letters, digits, dots, hyphens and underscores, at most 100 characters. Parameters are filled in.", example: "labour-2026q1", page: "README.md#the-spec-in-brief"},
	"corrects":         {is: "The finished release of the same account that this one corrects. It is measured anew, with noise and a debit of its own.", without: "the release corrects none", example: "labour-2026q1", page: "docs/howto/correction.md"},
	"params":           {is: "Parameters that `--set NAME=VALUE` gives values to and `${NAME}` stands for, in names, texts of `about`, and paths.", without: "there are none", example: "{quarter: {pattern: '20\\d\\dq[1-4]'}}", page: "docs/spec.md#parameters-and-plans-with-their-parameters-blank"},
	"params.*.pattern": {is: "A regular expression that the whole value must match. A value that could lead to another file, by / or a glob, is refused whatever the pattern.", example: "'20\\d\\dq[1-4]'", page: "docs/spec.md#parameters-and-plans-with-their-parameters-blank"},
	"about":            {is: "What readers of the report are told of the release. Nothing is worked out from it.", without: "the report names the release alone", example: "{title: \"Labour force, first quarter of 2026\", contact: statistics office}", page: "docs/registry.md"},
	"about.title":      {is: "The title of the report.", without: "the name of the release", example: "\"Labour force, first quarter of 2026\""},
	"about.population": {is: "Whom or what the figures are about, for the report and the registry.", without: "the report says nothing of it", example: "residents aged 15 and over"},
	"about.period":     {is: "The time that the figures are about, for the report.", without: "the report says nothing of it", example: "the first quarter of 2026"},
	"about.contact":    {is: "Who answers for the release, for the report and the registry.", without: "the report names nobody", example: "statistics office"},

	"fit": {is: "Classes of how precise a figure is, from the most precise to the least: each the largest relative standard error of its figures. Reports sort the cells of every table into them.", without: "reports speak of errors alone", example: "{precise: 5%, usable: 20%}", page: "docs/spec.md#how-precise-is-precise-enough"},

	"privacy":            {is: "Whom the release protects, and which account pays.", example: "{protects: person, neighbours: add-remove, account: lfs-2026}", page: "docs/threat-model.md"},
	"privacy.protects":   {is: "The noun for a unit in every report. What a unit is in the data, `unit` of each table says.", example: "person", page: "README.md#what-is-promised"},
	"privacy.neighbours": {is: "Which data sets are told apart by one unit: with add-remove the unit is there or not; with replace it has other rows, and the number of units is public.", example: "add-remove", page: "README.md#what-is-promised"},
	"privacy.account":    {is: "The ledger account that is charged, or a list: the release's own first, then those of further data sets that it reads. Each is charged in full.", without: "only a practice account pays, and everything is marked PRACTICE, NOT A RELEASE", example: "lfs-2026", page: "docs/ledger.md"},
	"privacy.resume":     {is: "With never the noise key is in memory alone, and a run that is cut off after its debit loses the release.", without: "the key is kept in the state directory until the measurements are durable, and a run that is cut off resumes", example: "never", page: "docs/spec.md#a-run-that-is-cut-off"},
	"privacy.total":      {is: "Whether every policy is refused under which a value of a readable file could stop a run, so that not even the stop of a run tells of the data.", without: "false", example: "true", page: "docs/spec.md#the-contract-of-a-table"},
	"privacy.within":     {is: "An attribute whose category of each unit would be public.", without: "nothing of a unit is public", example: "block.state"},

	"budget":          {is: "What the whole release may lose: ε alone (pure), ρ (zero-concentrated), or ε at δ (approximate), as exact numbers.", example: "{epsilon: 1, delta: 1e-9}", page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.epsilon":  {is: "ε. Nobody's presence changes the chance of any result by more than e^ε (beside δ).", without: "the budget is in rho", example: "1", page: "README.md#what-is-promised"},
	"budget.delta":    {is: "δ of a budget in ε: above 0 and below 1, in practice far below one over the number of units.", without: "the promise is pure", example: "1e-9", page: "README.md#what-is-promised"},
	"budget.rho":      {is: "ρ of zero-concentrated differential privacy.", without: "the budget is in epsilon", example: "1/8", page: "docs/plan.md#which-noise"},
	"budget.minimise": {is: "What the planner makes least in each leaf: the sum over all cells of weight × variance, with no table worse than by itself with an equal share (`guarded`) or whatever becomes of small tables (`sum`), or the largest of any cell.", without: "guarded", example: "sum", page: "docs/plan.md#what-is-made-least"},
	"budget.noise":    {is: "The law of the noise of all tables under ε and δ: discrete Gaussian or discrete Laplace. The plan says in one line what the other law would give, and what it would cost the account.", without: "the planner takes what gives the least error", example: "gaussian", page: "docs/plan.md#which-noise"},
	"budget.split":    {is: "The tree by which the budget is shared out. A leaf is a wall: its part is kept exactly.", without: "one leaf, which all marginals share", example: "{headline: 1/2, detail: 1/2}", page: "docs/spec.md#how-marginals-share-a-budget"},

	"budget.split.*.share":   {is: "The part of an entry that is split again, of what needed leaves and amounts beside it leave.", without: "the entry is an absolute amount", example: "1/3", page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.epsilon": {is: "An absolute amount, where the budget is of ε alone.", without: "the entry is a share, or an amount in rho", example: "1/10", page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.rho":     {is: "An absolute amount, where the budget is in ρ or in ε and δ.", without: "the entry is a share, or an amount in epsilon", example: "1/200", page: "docs/spec.md#how-marginals-share-a-budget"},
	"budget.split.*.split":   {is: "The parts of the entry, shared out within it.", without: "the entry is a leaf", example: "{pairs: 60%, totals: 40%}", page: "docs/spec.md#how-marginals-share-a-budget"},

	"impossible":         {is: "Combinations of categories that no row has, as public knowledge. Their cells are exact zeros that cost nothing.", without: "every combination is possible", example: "[{where: {age.band: 0–15, status: employed}}]", page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].table": {is: "The confidential table that it is of.", without: "the only one", example: "persons", page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].where": {is: "Attributes with one category, or a list. A row that meets all of them is impossible.", example: "{age.band: 0–15, status: [employed, unemployed]}", page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"impossible[].rows":  {is: "What happens to a row that is so all the same: error stops the run before anything is spent, drop leaves the row out.", without: "error", example: "drop", page: "docs/spec.md#what-is-decided-and-what-cannot-be"},

	"invariants":          {is: "Public figures that published counts keep to. They are written in the spec or a file beside it, never read from the data, and given away.", without: "there are none", example: "{totals: {table: persons, by: [region], from: totals.csv}}", page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.table":  {is: "The confidential table whose rows the figures count.", without: "the only one", example: "persons", page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.by":     {is: "The attributes of the figures: there is one for each combination of their categories. [] is the number of rows.", example: "[region]", page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.from":   {is: "The CSV file with the figures, beside the spec: a column for each attribute, and one called count. It becomes part of the plan, and so public.", without: "they stand under values", example: "totals.csv", page: "docs/spec.md#figures-that-are-public-already"},
	"invariants.*.values": {is: "The figures of no attribute, a number, or of one, by its categories.", without: "they stand in a file", example: "{north: 120, south: 80}", page: "docs/spec.md#figures-that-are-public-already"},

	"synthetic":          {is: "Microdata: rows drawn from a model of noisy answers, for each table that is named.", without: "none are made", example: "{persons: {budget: microdata, by: [age.band, sex, region]}}", page: "docs/spec.md#microdata"},
	"synthetic.*.budget": {is: "The leaf that pays for these microdata, and for nothing else. Method tables has none: it spends nothing.", without: "the leaf called as the table, else the one called synthetic; with method: auto none, where there is neither and marginals count each two columns together", example: "microdata", page: "docs/spec.md#microdata"},
	"synthetic.*.rows":   {is: "How many rows are drawn: as many as the noisy total says, or a number that is made public.", without: "noisy", example: "100000", page: "docs/spec.md#microdata"},
	"synthetic.*.method": {is: "How the model is made. auto leaves it to the planner; mst is a tree of measured pairs of columns; aim is a model of measured sets of up to three columns, chosen one after another; tables is a model of the tables that the release has anyway.", without: "auto", example: "mst", page: "docs/spec.md#microdata"},
	"synthetic.*.files":  {is: "How many times rows are drawn from the model, each time others into a file of their own: what differs between files is by the drawing alone.", without: "once", example: "5", page: "docs/spec.md#microdata"},
	"synthetic.*.ways":   {is: "How many columns are measured together at most, by method aim: pairs, or sets of three as well.", without: "3, or with method: auto as many as can be counted", example: "2", page: "docs/spec.md#microdata"},
	"synthetic.*.parent": {is: "The table whose microdata have the one row that each row belongs to: rows are drawn given that, and there are as many as it says.", without: "rows belong to none", example: "households", page: "docs/spec.md#microdata-of-households-and-their-members"},
	"synthetic.*.size":   {is: "What the column of the parent is called that says how many rows belong to a row.", without: "the name of the table", example: "members", page: "docs/spec.md#microdata-of-households-and-their-members"},
	"synthetic.*.by":     {is: "The columns of the microdata, each once, at one level.", without: "all columns of the table at their finest level", example: "[age.band, sex, region]", page: "docs/spec.md#microdata"},

	"publish":              {is: "What becomes of the estimates when they are written.", without: "each count is its estimate, rounded, and 0 where that is negative", example: "{integers: consistent}", page: "docs/spec.md#counts-that-add-up"},
	"publish.integers":     {is: "consistent: the published counts are whole, none is negative, and every sum that two tables share is the same in both. The unbiased estimates beside them stay.", without: "each count is its estimate, rounded, and 0 where that is negative", example: "consistent", page: "docs/spec.md#counts-that-add-up"},
	"publish.partition_by": {is: "An attribute by which files are split.", without: "each table is one file", example: "block.state"},
	"diagnostics":          {is: "Noisy counts of what domains, bounds and clamping leave out or change, bought with a part of the budget.", without: "there are none", example: "{share: 1%}", page: "docs/spec.md#numbers-not-only-counts"},
	"diagnostics.share":    {is: "The part of the whole budget that pays for them. The split divides the rest.", example: "1%", page: "docs/spec.md#numbers-not-only-counts"},
	"engines":              {is: "Engines that would count in the place of this program.", without: "this program counts", example: "{persons: sql}"},
}

var tableMeanings = map[string]meaning{
	"tables":                    {is: "The confidential tables, by names of your choice.", example: "{persons: {source: {parquet: \"data/*.parquet\"}, unit: row, columns: {sex: {values: [f, m]}}}}", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.source":           {is: "The files with the rows, of one format. Relative paths start from the spec's folder, or from `--data`.", example: "{parquet: \"data/lfs-*.parquet\"}", page: "docs/files.md"},
	"tables.*.source.parquet":   {is: "Parquet files: a path or glob, or a list of them. Each must reach a file.", without: "the files are CSV or Arrow", example: "\"data/lfs-*.parquet\"", page: "docs/files.md"},
	"tables.*.source.csv":       {is: "CSV files with a header line, plain or compressed (.gz, .zst).", without: "the files are Parquet or Arrow", example: "[\"2025/*.csv.gz\", new.csv]", page: "docs/files.md"},
	"tables.*.source.arrow":     {is: "Arrow IPC files (Feather 2) or streams.", without: "the files are Parquet or CSV", example: "survey.arrow", page: "docs/files.md"},
	"tables.*.source.delimiter": {is: "The character between the fields of a CSV file.", without: "a comma", example: "\";\"", page: "docs/files.md"},
	"tables.*.source.nulls":     {is: "Texts of a CSV file that mean null, quoted or not.", without: "the empty text alone", example: "[\"\", NA]", page: "docs/files.md"},

	"tables.*.unit":          {is: "Which rows are one unit, the thing that is protected: all rows with one id, of which at most max_rows are counted; or `row`, where every row is a unit by itself.", example: "{id: person_id, max_rows: 1}", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.unit.id":       {is: "The column of the source that tells units apart.", example: "person_id", page: "docs/files.md"},
	"tables.*.unit.null":     {is: "What happens to a row without an id: error stops the run before anything is spent, drop leaves the row out.", without: "error", example: "drop", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.unit.max_rows": {is: "How many rows of a unit are counted at most. Which ones is drawn by lot. Noise grows with it.", example: "3", page: "docs/spec.md#the-contract-of-a-table"},

	"tables.*.weight":       {is: "A column that says how many each row stands for. All counts, sums, means, ratios and quantiles are then weighted.", without: "every row counts once", example: "{from: weight, range: [0, 25], step: 0.5, kind: design}", page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.from":  {is: "The column of the source.", example: "weight", page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.range": {is: "The least and the largest weight. What lies beyond is brought to the end. The largest decides the noise.", example: "[0, 25]", page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.step":  {is: "The step to which weights are rounded.", example: "0.5", page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.kind":  {is: "Whether a weight is an attribute of its unit (design), or was adjusted to totals and so depends on other units (calibrated).", without: "design, with a warning", example: "design", page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.null":  {is: "What happens to a row without a weight.", without: "error", example: "drop", page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.expect":        {is: "What complete files hold, of rows that count. It is checked before anything is spent; a failure does not tell the number.", without: "nothing is asked of the files beyond their columns", example: "{rows: [40000, 60000], every: [region]}", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.expect.rows":   {is: "The least and the most rows of all files together. The plan also sets the noise against the middle of it.", without: "any number", example: "[40000, 60000]", page: "docs/plan.md#what-the-tables-will-be-good-for"},
	"tables.*.expect.every":  {is: "Attributes each of whose declared codes must occur in some row.", without: "none need", example: "[region, age.band]", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.where":         {is: "The condition under which a row counts. It is public.", without: "all rows count", example: "country == 'de' and admitted >= 2025-01-01", page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.where.is":      {is: "The condition, where something is said of unknown values beside it.", example: "age >= 18", page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.where.unknown": {is: "What happens to a row with a value that the condition cannot read.", without: "error", example: "drop", page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},

	"tables.*.join":             {is: "Public tables in which columns are looked up, by names of your choice.", without: "none", example: "{register: {csv: register.csv, on: ent_id, public: true}}", page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.csv":       {is: "The CSV file, beside the spec. It becomes part of the plan, and so public.", without: "the table is of a format that is not read", example: "register.csv", page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.parquet":   {is: "A public table in Parquet.", without: "the table is CSV", example: "register.parquet"},
	"tables.*.join.*.arrow":     {is: "A public table in Arrow.", without: "the table is CSV", example: "register.arrow"},
	"tables.*.join.*.delimiter": {is: "The character between the fields of the file.", without: "a comma", example: "\";\"", page: "docs/files.md"},
	"tables.*.join.*.nulls":     {is: "Texts that mean null in the file.", without: "the empty text alone", example: "[\"\", NA]", page: "docs/files.md"},
	"tables.*.join.*.on":        {is: "The key: a column, or several, that both tables call by the same name.", example: "ent_id", page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.public":    {is: "That every row of the table may be known to anybody. The promise rests on it, so it must be said.", example: "true", page: "docs/spec.md#columns-of-a-public-table"},

	"tables.*.sample":         {is: "A secret sample of the units, drawn anew by `measure`: the same promise for less noise in what is measured.", without: "all units are measured", example: "{poisson: 10%}", page: "docs/spec.md#a-secret-sample"},
	"tables.*.sample.poisson": {is: "The probability with which each unit is drawn, independently.", example: "10%", page: "docs/spec.md#a-secret-sample"},
	"tables.*.columns":        {is: "The columns that marginals, expectations and microdata use, by names of your choice. Others are not read.", example: "{sex: {values: [female, male]}}", page: "docs/spec.md#the-contract-of-a-table"},
}
