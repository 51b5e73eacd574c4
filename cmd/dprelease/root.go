package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/spf13/cobra"
)

// rootCommand returns the command tree.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "dprelease",
		Short: "Release statistics about people without giving the people away",
		Long: `dprelease turns a release spec (YAML) into published tables with error bars. The
tables are differentially private, and what they cost is charged to an account.`,
		Example: `  dprelease init data.csv > release.yaml
  dprelease check release.yaml
  dprelease rehearse release.yaml
  dprelease plan release.yaml
  dprelease run release.yaml`,
		Version:       strings.TrimPrefix(published.Software, "dprelease "),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRun: func(c *cobra.Command, _ []string) {
			a.readEnvironment(c)
			a.progress.setVerbose(a.verbose)
		},
		SuggestionsMinimumDistance: 2,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate(fmt.Sprintf("dprelease {{.Version}} (%s, %s/%s)\n", runtime.Version(), runtime.GOOS,
		runtime.GOARCH))
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON document instead of text")
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "log every step to standard error")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w (see `%s --help`)", err, c.CommandPath())}
	})
	root.AddCommand(
		a.initCommand(), a.checkCommand(), a.rehearseCommand(), a.schemaCommand(),
		a.planCommand(), a.diffCommand(), a.lossCommand(), a.approveCommand(), a.runCommand(), a.measureCommand(),
		a.holderCommand(), a.combineCommand(), a.machineKeyCommand(), a.prepareCommand(), a.countCommand(),
		a.publishCommand(),
		a.localCommand(), a.showCommand(), a.queryCommand(), a.predictCommand(), a.verifyCommand(),
		a.ledgerCommand(), a.stateCommand(),
		a.evaluateCommand(), a.explainCommand(),
	)
	return root
}
