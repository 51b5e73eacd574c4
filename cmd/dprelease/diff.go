package main

import (
	"github.com/dprelease/dprelease/internal/release"
	"github.com/spf13/cobra"
)

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Say what changed between two plans, or between two published releases",
		Long: `Say in words what changed between two plan files: guarantee, cost, tables and
their errors, budget, columns, sources, parameters, and the lines of the spec. Of
two published releases (folders) also say which cells of the tables that both
have changed by more than the noise explains. Reads nothing confidential.`,
		Args: between(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := release.Diff(c.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			a.outcome.Release, a.outcome.PlanHash, a.outcome.Path, a.outcome.Diff = d.Plans.After.Release, d.Plans.After.PlanHash, args[1], d
			if a.json {
				return nil
			}
			return d.Write(visible{a.stdout})
		},
	}
}
