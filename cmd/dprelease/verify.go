package main

import (
	"strings"

	"github.com/dprelease/dprelease/internal/release"
	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	var o release.VerifyOptions
	c := &cobra.Command{
		Use:   "verify FOLDER",
		Short: "Check a published folder without the data and without trust in its writer",
		Long: `Check a published folder: that it is whole, that everything in it follows from
its plan and its measurements, that the privacy loss is the one promised, and that
a ledger was debited for it. What is signed is told apart from what was worked out
here, and from what cannot be checked from here. Reads no data and writes nothing.`,
		Args: between(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			v, err := release.Verify(c.Context(), args[0], o)
			a.outcome.Verification = v
			if v != nil {
				a.outcome.Release, a.outcome.Path, a.outcome.Marked = v.Release, args[0], v.Marked
				a.verified(v)
			}
			return err
		},
	}
	c.Flags().StringVar(&o.Trust, "trust", "", "the office's public key: the manifest and the debit must be signed with it")
	c.Flags().StringVar(&o.Export, "ledger-export", "", "an export of the office's ledger (dprelease ledger export), which must hold this release")
	return c
}

// verified prints a verification.
func (a *app) verified(v *release.Verification) {
	for _, c := range v.Checks {
		file := ""
		if c.File != "" {
			file = c.File + ": "
		}
		a.say("%-8s  %-12s  %s%s", c.State, c.Name, file, c.Says)
	}
	for _, list := range []struct {
		title string
		items []string
	}{
		{"Recomputed here:", v.Recomputed},
		{"Signed:", v.Signed},
		{"Cannot be checked from here:", v.Unchecked},
	} {
		if len(list.items) > 0 {
			a.say("\n%s\n- %s", list.title, strings.Join(list.items, "\n- "))
		}
	}
	if v.Outcome != release.DoesNotVerify || v.Withdrawn != nil { // else the error says it
		a.say("\n%s", v.Says)
	}
}
