package main

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/release"
	"github.com/spf13/cobra"
)

func (a *app) queryCommand() *cobra.Command {
	var q release.Question
	as := "text"
	c := &cobra.Command{
		Use:   "query FOLDER --by ATTRIBUTES --where ATTRIBUTE=CODES",
		Short: "Count cells of a release that no table shows, with their exact error",
		Long: `Count the rows that meet all conditions, for every combination of the attributes,
from the measurements of a published folder alone: sums of published cells with the
standard error and interval that they have together. An attribute is a column, or
column.level; a condition may give several codes with commas, and 18..24 for all
from 18 to 24 in the order of the spec. It costs no budget and reads nothing
confidential. The folder must be as its manifest says.
docs/query.md tells how the errors come about.

  dprelease query labour-2026q1 --by region --where age.band=25–34,35–44 --where sex=f`,
		Args: between(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if as != "text" && as != "csv" {
				return &usageError{fmt.Errorf("--as %q: expected text or csv", as)}
			}
			if a.json && as == "csv" {
				return &usageError{fmt.Errorf("--as csv and --json exclude each other")}
			}
			answer, err := release.Query(c.Context(), args[0], q)
			if err != nil {
				return err
			}
			a.outcome.Release, a.outcome.Marked, a.outcome.Path, a.outcome.Answer = answer.Release, answer.Status, args[0], answer
			switch {
			case a.json:
				return nil
			case as == "csv":
				return answer.CSV(visible{a.stdout})
			}
			return answer.Write(visible{a.stdout})
		},
	}
	c.Flags().StringSliceVar(&q.By, "by", nil, "attributes that the answer has a row for each category of, with commas")
	c.Flags().StringArrayVar(&q.Where, "where", nil, "ATTRIBUTE=CODES, or FROM..TO, that the counted rows have; may be repeated, and all must hold")
	c.Flags().StringVar(&q.Table, "table", "", "the confidential table whose rows are counted, where several have the columns")
	c.Flags().StringVar(&as, "as", as, "text or csv")
	return c
}
