package main

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/release"
	"github.com/spf13/cobra"
)

func (a *app) showCommand() *cobra.Command {
	as := "md"
	var cell []string
	forms := []string{"md", "json", "registry"}
	c := &cobra.Command{
		Use:   "show FOLDER [TABLE --cell KEY=CODE,…]",
		Short: "Print the report of a release, its entry for a public registry, or where one number comes from",
		Long: `Print the report of a published folder: as Markdown, as report.json, or as an
entry for a public registry of deployments (docs/registry.md documents its fields).
It does not check the folder: dprelease verify does.

With a table and a cell, follow one published number to the noisy integers that it
is made of: the measurements, the noise of each, the weights, and their sum. That
needs the folder to be as its manifest says. docs/query.md has an example.

  dprelease show labour-2026q1 pairs/region_x_sex --cell region=DE1,sex=f`,
		Args: between(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				if c.Flags().Changed("as") {
					return &usageError{fmt.Errorf("--as is for the report: a cell is printed as text, or with --json as data")}
				}
				return a.trace(c, args[0], args[1], cell)
			}
			if len(cell) > 0 {
				return &usageError{fmt.Errorf("--cell needs the table that the cell is in: %s", c.UseLine())}
			}
			if !slices.Contains(forms, as) {
				return &usageError{fmt.Errorf("--as %q: expected md, json or registry", as)}
			}
			r, err := release.ReadReport(args[0])
			if err != nil {
				return err
			}
			a.outcome.Release, a.outcome.Path = r.Release, args[0]
			text := r.Markdown()
			switch as {
			case "json":
				text = r.JSON()
			case "registry":
				text = r.Registry().JSON()
			}
			if a.json {
				a.outcome.Shown = string(text)
				return nil
			}
			_, err = visible{a.stdout}.Write(text)
			return err
		},
	}
	c.Flags().StringVar(&as, "as", as, "md, json or registry")
	c.Flags().StringArrayVar(&cell, "cell", nil, "the cell, KEY=CODE for each key of the table, with commas; may be repeated")
	return c
}

// trace prints where a published number comes from.
func (a *app) trace(c *cobra.Command, folder, table string, cell []string) error {
	t, err := release.TraceCell(c.Context(), folder, table, cell)
	if err != nil {
		return err
	}
	a.outcome.Release, a.outcome.Marked, a.outcome.Path, a.outcome.Trace = t.Release, t.Status, folder, t
	if a.json {
		return nil
	}
	return t.Write(visible{a.stdout})
}
