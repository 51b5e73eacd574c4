package main

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/release"
	"github.com/spf13/cobra"
)

func (a *app) showCommand() *cobra.Command {
	as := "md"
	forms := []string{"md", "json", "registry"}
	c := &cobra.Command{
		Use:   "show FOLDER",
		Short: "Print the report of a release, or its entry for a public registry",
		Long: `Print the report of a published folder: as Markdown, as report.json, or as an
entry for a public registry of deployments (docs/registry.md documents its fields).
It does not check the folder: dprelease verify does.`,
		Args: between(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
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
	return c
}
