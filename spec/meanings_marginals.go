package spec

// This file holds what the keys of a marginal and of its statistics mean.

var marginalMeanings = map[string]meaning{
	"marginals":              {is: "What is published: a table for each marginal, by names of your choice.", without: "microdata alone are published", example: "{status: {by: [region, status]}}", page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.by":         {is: "The attributes that the table counts by: columns, or levels as `age.band`. Every combination of their categories is a cell; [] is the total.", example: "[region, age.band]", page: "README.md#the-spec-in-brief"},
	"marginals.*.every":      {is: "Not one table of all attributes of by, but one for every subset of these sizes.", without: "one table of all of them", example: "[1, 2]", page: "README.md#the-spec-in-brief"},
	"marginals.*.cumulative": {is: "Attributes along which the table counts up: its row for 15 says how many are 15 or younger.", without: "none", example: "[age]", page: "docs/spec.md#sums-along-a-column"},
	"marginals.*.ranges":     {is: "Attributes of which sums of neighbouring categories are to be accurate.", without: "none", example: "[age]", page: "docs/plan.md#sums-along-a-column"},
	"marginals.*.table":      {is: "The confidential table that it is of.", without: "the only one", example: "persons", page: "docs/spec.md#several-confidential-tables"},
	"marginals.*.stats":      {is: "What is published of each cell. Each statistic has columns of its own for the figure, its error, its interval and a flag.", without: "[count]", example: "[count, {mean: pay}, {quantiles: pay, at: [10%, 90%]}]", page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.budget":     {is: "The leaf of the budget that pays. A leaf of a leaf is written with a dot.", without: "the leaf called as the marginal, or the only one where the budget has no split", example: "headline", page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.weight":     {is: "How much the variance of each cell counts beside other marginals of the leaf: with `minimise: guarded` it moves what sharing saves, with `sum` all of the leaf. It changes what the noise is shared by, never what is promised.", without: "1", example: "4", page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.top":        {is: "Only the cells with the largest counts are published, this many, as far as private choices find them.", without: "every cell is published", example: "10", page: "docs/spec.md#the-cells-with-the-largest-counts"},
	"marginals.*.per_unit":   {is: "What one unit adds to the table at most. Less of a unit is less noise.", without: "max_rows of the table bounds it", example: "{groups: 2}", page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.show":       {is: "Which cells show statistics beside counts.", without: "all of them", example: "{when_count_at_least: 30}", page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.each":       {is: "A column with levels: a table for each of them.", without: "one table", example: "region"},
	"marginals.*.cells":      {is: "Which cells are published, of tables with very many.", without: "every cell is published", example: "{above: 40}", page: "docs/spec.md#tables-of-very-many-cells"},
	"marginals.*.target":     {is: "How near to the exact figure the published one must be. A leaf that is `needed` gets what its targets take.", without: "as near as the budget allows", example: "{margin: 500, confidence: 95%}", page: "docs/spec.md#how-good-a-table-must-be"},

	"marginals.*.per_unit.groups":          {is: "The cells in which a unit has rows that are counted.", without: "not bounded but by max_rows", example: "2", page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.per_unit.rows_per_group":  {is: "The rows of a unit in one cell.", without: "not bounded but by max_rows", example: "1", page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.per_unit.total":           {is: "The rows of a unit in the table.", without: "max_rows", example: "3", page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.show.when_count_at_least": {is: "Statistics are withheld where the noisy count is below this. It acts on the noisy count alone.", example: "30", page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.cells.above":              {is: "Cells whose noisy count is above this are published, and no others.", example: "40", page: "docs/spec.md#tables-of-very-many-cells"},
	"marginals.*.target.margin":            {is: "How far the exact figure may lie from the published one: a number or, with `at`, a percentage.", example: "500", page: "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.at":                {is: "The size of the cell that the margin is a percentage of: `{margin: 5%, at: 1000}` is a margin of 50, for every cell of the table.", without: "the margin is a number", example: "1000", page: "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.confidence":        {is: "With which probability.", without: "95%", example: "99%", page: "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.of":                {is: "Whether that is asked of each cell by itself, or of all cells of a table at once.", without: "each-cell", example: "all-cells", page: "docs/spec.md#how-good-a-table-must-be"},
}

const statPage = "docs/spec.md#numbers-not-only-counts"

var statMeanings = map[string]meaning{
	"marginals.*.stats[].sum":       {is: "The sum of a column of numbers.", example: "pay", page: statPage},
	"marginals.*.stats[].mean":      {is: "Its mean.", example: "pay", page: statPage},
	"marginals.*.stats[].variance":  {is: "The mean square of the distance of its values from their mean.", example: "pay", page: statPage},
	"marginals.*.stats[].deviation": {is: "The root of that.", example: "pay", page: statPage},
	"marginals.*.stats[].median":    {is: "The value that half of the rows have or lie below.", example: "pay", page: statPage},
	"marginals.*.stats[].quantiles": {is: "The same for the shares of `at`.", example: "pay", page: statPage},
	"marginals.*.stats[].at":        {is: "The shares of the quantiles, ascending.", example: "[10%, 50%, 90%]", page: statPage},
	"marginals.*.stats[].distinct":  {is: "How many values of a column occur.", example: "rank", page: statPage},
	"marginals.*.stats[].per_unit":  {is: "Of `distinct`: how many values one unit gives at most.", example: "2", page: statPage},
	"marginals.*.stats[].ratio":     {is: "One term over another, each a count, a sum or a mean over the rows that meet conditions.", example: "{of: {status: unemployed}, over: {status: [employed, unemployed]}}", page: statPage},
	"marginals.*.stats[].as":        {is: "The name of the statistic in its columns. A ratio must have one.", without: "a name made of the column and the statistic, as pay_mean", example: "rate", page: statPage},

	"marginals.*.stats[].ratio.of":         {is: "The first term, where it does not stand by itself as sum, mean or where.", without: "the first term is sum, mean or where", example: "{status: unemployed}", page: statPage},
	"marginals.*.stats[].ratio.sum":        {is: "The first term is the sum of this column.", without: "it is another", example: "turnover", page: statPage},
	"marginals.*.stats[].ratio.mean":       {is: "The first term is the mean of this column.", without: "it is another", example: "pay", page: statPage},
	"marginals.*.stats[].ratio.where":      {is: "Which rows the first term is over; alone, the count of those.", without: "all rows", example: "{sex: female}", page: statPage},
	"marginals.*.stats[].ratio.over":       {is: "The second term. It must not be able to be negative.", example: "{sum: staff}", page: statPage},
	"marginals.*.stats[].ratio.of.sum":     {is: "The sum of this column.", without: "the term is a mean or a count", example: "turnover", page: statPage},
	"marginals.*.stats[].ratio.of.mean":    {is: "The mean of this column.", without: "the term is a sum or a count", example: "pay", page: statPage},
	"marginals.*.stats[].ratio.of.where":   {is: "Which rows the term is over.", without: "all rows", example: "{sex: female}", page: statPage},
	"marginals.*.stats[].ratio.over.sum":   {is: "The sum of this column.", without: "the term is a mean or a count", example: "staff", page: statPage},
	"marginals.*.stats[].ratio.over.mean":  {is: "The mean of this column.", without: "the term is a sum or a count", example: "pay", page: statPage},
	"marginals.*.stats[].ratio.over.where": {is: "Which rows the term is over.", without: "all rows", example: "{sex: male}", page: statPage},
}
