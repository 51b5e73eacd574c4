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
		Short: "Answer what no table shows, from one release or several together, with the exact error",
		Long: `Count the rows that meet all conditions, for every combination of the attributes,
from the measurements of a published folder alone: sums of published cells with the
standard error and interval that they have together. An attribute is a column, or
column.level; a condition may give several codes with commas, and 18..24 for all
from 18 to 24 in the order of the spec. It costs no budget and reads nothing
confidential. The folder must be as its manifest says.
docs/query.md tells how the errors come about.

With --statistic sum=COLUMN or mean=COLUMN, the sum or mean of a column's values; with
several folders, over the rows of all these releases together, or with --each of every
one. docs/howto/several-releases.md says what adds up and what does not.

  dprelease query labour-2026q1 --by region --where age.band=25–34,35–44 --where sex=f
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
			a.outcome.Release, a.outcome.Marked, a.outcome.Path, a.outcome.Answer = answer.Release, answer.Status, args[0],
				answer
			return a.printAnswer(as, answer)
		},
	}
	c.Flags().StringSliceVar(&q.By, "by", nil, "attributes that the answer has a row for each category of, with commas")
	c.Flags().StringArrayVar(&q.Where, "where", nil,
		"ATTRIBUTE=CODES, or FROM..TO, that the counted rows have; may be repeated, and all must hold")
	c.Flags().StringVar(&q.Table, "table", "",
		"the confidential table whose rows are counted, where several have the columns")
	c.Flags().StringVar(&q.Statistic, "statistic", "", "count (the default), sum=COLUMN or mean=COLUMN")
	c.Flags().BoolVar(&each, "each", false,
		"give every release rows of its own, with a column that names it, in place of all together")
	c.Flags().StringVar(&as, "as", as, "text or csv")
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
