package main

import (
	"fmt"
	"io"
	"math"

	"github.com/dprelease/dprelease/internal/query"
	"github.com/spf13/cobra"
)

func (a *app) queryCommand() *cobra.Command {
	var q query.Question
	var each bool
	as := "text"
	c := &cobra.Command{
		Use:   "query FOLDER… --by ATTRIBUTES --where ATTRIBUTE=CODES",
		Short: "Answer a question that no table shows, from one or several releases, with its exact error",
		Long: `Count the rows that meet all conditions, for every combination of the attributes, or
take the sum or the mean of a column over them, from the measurements of a published
folder: the answers are made of published cells, each with its standard error and
interval. An attribute is a column, or column.level. A condition may list several codes, separated by commas; 18..24 stands
for all codes from 18 to 24 in the order of the spec. A query costs no budget and
reads nothing confidential. The folder must match its manifest. docs/query.md
explains how the errors are computed.

With --statistic sum=COLUMN or mean=COLUMN, the answer is the sum or mean of a
column's values. For that, a table of the release must have the column's sum or mean
(stats: [count, {mean: COLUMN}] in the spec); counts alone do not give them, and
quantiles do not add up. With several folders it is over the rows of all these releases
together or, with --each, of each of them. docs/howto/several-releases.md says what
adds up and what does not.`,
		Example: `  dprelease query labour-2026q1 --by region --where age.band=25–34,35–44 --where sex=f
  dprelease query pay-w1 pay-w2 pay-w3 --by region --statistic mean=pay`,
		Args: argCount(1, math.MaxInt),
		RunE: func(c *cobra.Command, args []string) error {
			if as != "text" && as != "csv" {
				return &usageError{fmt.Errorf("--as %q: expected text or csv", as)}
			}
			if a.json && as == "csv" {
				return &usageError{fmt.Errorf("--as csv and --json exclude each other")}
			}
			if len(args) > 1 || each || q.Statistic != "" {
				return a.queryTotals(c, args, q, each, as)
			}
			answer, err := query.Query(c.Context(), args[0], q)
			if err != nil {
				return err
			}
			a.outcome.Release, a.outcome.Marked, a.outcome.Path, a.outcome.Answer = answer.Release, answer.Status,
				args[0],
				answer
			return a.printAnswer(as, answer)
		},
	}
	c.Flags().StringSliceVar(&q.By, "by", nil, "attributes, separated by commas: the answer has a row for each "+
		"combination of their categories")
	c.Flags().StringArrayVar(&q.Where, "where", nil,
		"condition on the counted rows, ATTRIBUTE=CODES or ATTRIBUTE=FROM..TO; may be repeated, and all must hold")
	c.Flags().StringVar(&q.Table, "table", "",
		"confidential table whose rows are counted, if several have these columns")
	c.Flags().StringVar(&q.Statistic, "statistic", "", "count (the default), sum=COLUMN or mean=COLUMN of a column "+
		"that a table has the sum or the mean of")
	c.Flags().BoolVar(&each, "each", false,
		"answer for each release, with a column that names it, instead of for all together")
	c.Flags().StringVar(&as, "as", as, "form of the answer: text or csv")
	return c
}

// queryTotals answers a question about sums and means, or about several releases.
func (a *app) queryTotals(c *cobra.Command, places []string, q query.Question, each bool, as string) error {
	total, err := query.Totals(c.Context(), places, q, each)
	if err != nil {
		return err
	}
	a.outcome.Marked, a.outcome.Total = total.Status, total
	return a.printAnswer(as, total)
}

// printAnswer prints an answer as text or CSV, unless --json is set.
func (a *app) printAnswer(as string, answer interface {
	CSV(w io.Writer) error
	Write(w io.Writer) error
}) error {
	switch {
	case a.json:
		return nil
	case as == "csv":
		return answer.CSV(visibleWriter{a.page()})
	}
	return answer.Write(visibleWriter{a.page()})
}
