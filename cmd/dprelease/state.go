package main

import (
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/internal/state"
	"github.com/spf13/cobra"
)

func (a *app) stateCommand() *cobra.Command {
	return commandGroup("state", "Manage the confidential state directory", a.stateCleanCommand())
}

func (a *app) stateCleanCommand() *cobra.Command {
	var days int
	var dryRun bool
	c := &cobra.Command{
		Use:   "clean [--days N] [--dry-run]",
		Short: "Remove what failed and finished attempts have left, once it is old",
		Long: fmt.Sprintf(`List the states that attempts have left in the confidential state directory, and remove
those that nobody has written to for %d days (--days): the diagnostics of refused
data, with the values that were wrong, and noise keys from which nothing resumes, which
are overwritten first. The list also shows what is kept, however old, and why: the
state of a release that is paid for and not finished, a state that a run has open, and
a key that no account of the ledger knows, because another ledger may know it.`, state.Days),
		Args: argCount(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 0 {
				return &usageError{errors.New("--days: expected 0 or more")}
			}
			o, err := a.releaseOptions()
			if err != nil {
				return err
			}
			a.outcome.States, err = state.Clean(c.Context(), o.StateDir(), o.Account(), days, dryRun)
			for _, s := range a.outcome.States {
				a.say("%s: %s, as %s. Last written to on %s.", s.Folder, s.Status, s.Why, s.Changed)
			}
			if err != nil {
				return err
			}
			a.say("%s", state.InWords(a.outcome.States, days))
			return nil
		},
	}
	a.outFlag(c)
	a.ledgerFlag(c, "without one, the practice account")
	a.stateFlag(c)
	c.Flags().IntVar(&days, "days", state.Days, "number of days for which a state is kept after it was last written to")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "remove nothing; list what would be removed")
	return c
}
