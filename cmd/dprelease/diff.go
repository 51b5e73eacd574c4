package main

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/diff"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/spf13/cobra"
)

func (a *app) diffCommand() *cobra.Command {
	as := "text"
	c := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Describe what changed between two plans or two published releases",
		Long: `Describe what changed between two plan files: guarantee, cost, tables and their
errors, budget, columns, sources, parameters, and the lines of the spec. For two
published releases (folders), also report how accurate both are, and which cells of
the tables that both have changed by more than the noise explains; with --as csv,
print only these cells. Reads nothing confidential. docs/query.md states the rule.`,
		Args: argCount(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if as != "text" && as != "csv" {
				return &usageError{fmt.Errorf("--as %q: expected text or csv", as)}
			}
			if a.json && as == "csv" {
				return &usageError{fmt.Errorf("--as csv and --json exclude each other")}
			}
			d, err := diff.Of(c.Context(), args[0], args[1], planfile.Read)
			if err != nil {
				return err
			}
			a.outcome.Release, a.outcome.PlanHash, a.outcome.Path, a.outcome.Diff = d.Plans.After.Release,
				d.Plans.After.PlanHash, args[1], d
			switch {
			case a.json:
				return nil
			case as == "csv" && d.Releases == nil:
				return &usageError{fmt.Errorf("--as csv is for the cells of two published releases: plans have none")}
			case as == "csv":
				return d.CSV(a.page()) // its texts are escaped already
			}
			return d.Write(a.page(), lookOf(a.stdout)) // its texts are escaped already
		},
	}
	c.Flags().StringVar(&as, "as", as, "form of the output: text, or csv of the cells that changed")
	return c
}
