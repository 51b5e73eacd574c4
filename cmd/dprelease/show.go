package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/show"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/report/page"
	"github.com/spf13/cobra"
)

// showOptions are the flags of show.
type showOptions struct {
	as       string
	cell     []string
	all, bom bool
}

func (a *app) showCommand() *cobra.Command {
	var s showOptions
	c := &cobra.Command{
		Use:   "show FOLDER [TABLE [--cell KEY=CODE,…]]",
		Short: "Print the report of a release, one of its tables, or where one number comes from",
		Long: `Print the report of a published folder in the terminal: what was promised, where the
budget went, how accurate each table is, and what the figures are not for. With --as,
print it as Markdown (md), as report.json (json), as an entry for a public registry
of deployments (registry; docs/registry.md documents its fields), or as the lines
that open the tables in other programs (text).

With a table, print its cells: keys, figures, intervals and notes; 40 rows, or all
with --all. With --as csv, print all columns of the whole table for a spreadsheet:
RFC 4180, a point in decimals, --bom for a byte order mark, and an apostrophe before
a text that a spreadsheet would take for a formula. With --as json, print the table
as one document. Where the table comes from is only in the Parquet file.

With a cell, trace one published number back to the noisy integers that it is made
of: the measurements, the noise of each, the weights, and their sum. docs/query.md
has examples.

The folder must hold what its manifest lists and nothing else, the manifest must
match its signature if there is one, and every figure must lie in its own interval.
dprelease verify checks the rest.`,
		Example: `  dprelease show labour-2026q1
  dprelease show labour-2026q1 status --as csv > status.csv
  dprelease show labour-2026q1 pairs/region_x_sex --cell region=DE1,sex=f`,
		Args: argCount(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.showReport(c, args[0], s)
			}
			return a.showTable(c, args[0], args[1], s)
		},
	}
	c.Flags().StringVar(&s.as, "as", "",
		"form of a report (md, json, registry or text) or of a table (csv or json); default: for the terminal")
	c.Flags().BoolVar(&s.all, "all", false, "print every table of the report, or every row of the table")
	c.Flags().BoolVar(&s.bom, "bom", false,
		"begin a CSV file with a UTF-8 byte order mark, by which some spreadsheets recognise UTF-8")
	c.Flags().StringArrayVar(&s.cell, "cell", nil,
		"the cell, as KEY=CODE for each key of the table, separated by commas; may be repeated")
	return c
}

// checkForm returns a usage error for a form that does not exist for what is shown.
func (s showOptions) checkForm(what string, forms ...string) error {
	if s.as != "" && !slices.Contains(forms, s.as) {
		return &usageError{fmt.Errorf("--as %q: of a %s expected %s", s.as, what, strings.Join(forms, ", "))}
	}
	if s.bom && s.as != "csv" {
		return &usageError{fmt.Errorf("--bom is for a CSV file: give it with a table and --as csv")}
	}
	if s.all && s.as != "" {
		return &usageError{fmt.Errorf("--all is for the terminal: --as %s prints all there is", s.as)}
	}
	return nil
}

// showReport prints the report of a release.
func (a *app) showReport(c *cobra.Command, folder string, s showOptions) error {
	if len(s.cell) > 0 {
		return &usageError{fmt.Errorf("--cell needs the table that the cell is in: %s", c.UseLine())}
	}
	if err := s.checkForm("report", "md", "json", "registry", "text"); err != nil {
		return err
	}
	r, err := published.ReadReport(folder)
	if err != nil {
		return err
	}
	a.outcome.Release, a.outcome.Path = r.Release, folder
	var text []byte
	switch s.as {
	case "json":
		text = r.JSON()
	case "registry":
		text = r.Registry().JSON()
	case "text":
		text = page.Readme(r)
	case "":
		if !a.json {
			_, err := a.page().Write(page.Terminal(r, lookOf(a.stdout), folder, s.all)) // its texts are escaped already
			return err
		}
		fallthrough
	default:
		text = page.Markdown(r)
	}
	if a.json {
		a.outcome.Shown = string(text)
		return nil
	}
	_, err = visibleWriter{a.page()}.Write(text)
	return err
}

// showTable prints a table, or where one of its numbers comes from.
func (a *app) showTable(c *cobra.Command, folder, table string, s showOptions) error {
	if len(s.cell) > 0 {
		if s.as != "" || s.all || s.bom {
			return &usageError{fmt.Errorf(
				"--as, --all and --bom are for reports and tables: a cell is printed as text, or with --json as data")}
		}
		return a.showCell(c, folder, table, s.cell)
	}
	if err := s.checkForm("table", "csv", "json"); err != nil {
		return err
	}
	if a.json && s.as == "csv" {
		return &usageError{fmt.Errorf("--as csv and --json exclude each other")}
	}
	sheet, err := show.Open(folder, table)
	if err != nil {
		return err
	}
	a.outcome.Release, a.outcome.Marked, a.outcome.Path = sheet.Release, sheet.Status, folder
	switch {
	case a.json:
		a.outcome.Sheet = sheet
		return nil
	case s.as == "csv":
		mark := ""
		if s.bom {
			mark = "\ufeff"
		}
		return sheet.CSV(a.page(), mark)
	case s.as == "json":
		return sheet.JSON(a.page())
	}
	return sheet.Write(a.page(), lookOf(a.stdout), s.all)
}

// showCell prints where a published number comes from.
func (a *app) showCell(c *cobra.Command, folder, table string, cell []string) error {
	t, err := trace.Cell(c.Context(), folder, table, cell)
	if err != nil {
		return err
	}
	a.outcome.Release, a.outcome.Marked, a.outcome.Path, a.outcome.Trace = t.Release, t.Status, folder, t
	if a.json {
		return nil
	}
	return t.Write(visibleWriter{a.page()})
}
