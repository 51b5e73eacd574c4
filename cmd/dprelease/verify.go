package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	var o verify.Options
	c := &cobra.Command{
		Use:   "verify FOLDER…",
		Short: "Check a published folder without the data and without trusting its writer",
		Long: `Check a published folder: that it is complete, that everything in it follows from
its plan and its measurements, that the privacy loss is the one promised, and that
a ledger was debited for it. The output lists separately what was recomputed here,
what is signed, and what cannot be checked from here. Reads no data and writes
nothing.

Several folders, or a folder that holds releases, get one verdict each. With
--ledger-export, every debit of the export without a folder is listed too.`,
		Example: `  dprelease verify labour-2026q1 --trust office.pub
  dprelease verify releases --trust office.pub --ledger-export audit.jsonl`,
		Args: argCount(1, math.MaxInt),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || !verify.IsRelease(args[0]) {
				return a.verifyAll(c.Context(), args, o)
			}
			v, err := verify.Folder(c.Context(), args[0], o)
			a.outcome.Verification = v
			if v != nil {
				a.outcome.Release, a.outcome.Path, a.outcome.Marked = v.Release, args[0], v.Marked
				a.printVerification(v)
			}
			return err
		},
	}
	c.Flags().StringVar(&o.Trust, "trust", "",
		"file of the office's public key: the manifest and the debit must be signed with it")
	c.Flags().StringVar(&o.Export, "ledger-export", "",
		"export of the office's ledger (dprelease ledger export), which must hold this release")
	return c
}

// verifyAll verifies several folders.
func (a *app) verifyAll(ctx context.Context, folders []string, o verify.Options) error {
	audit, err := verify.Folders(ctx, folders, o,
		func(v *verify.Verification) { a.say("%-10s  %s", v.Outcome, v.Says) })
	a.outcome.Audit = audit
	if audit == nil {
		return err
	}
	for _, other := range audit.Skipped {
		a.say("Not a release: %s.", other)
	}
	x := audit.Export
	if x == nil {
		return err
	}
	a.say("\nThe export ends with entry %s of %s, head %s.", budget.Group(x.Entries), x.Day, x.Head)
	a.say("It holds %s, of which %s a folder here.", budget.Plural(int64(x.Debits), "debit"),
		havePhrase(x.Debits-len(x.WithoutFolder)-len(x.Abandoned)))
	for _, d := range x.WithoutFolder {
		a.say("- no folder: release %s, %s, debited to account %s on %s (entry %d, %.16s), %s", d.Release, d.Cost,
			d.Account,
			d.Debited, d.Sequence, d.Hash, d.State)
	}
	for _, d := range x.Abandoned {
		a.say("- abandoned on %s (%s), so that there is no folder: release %s, %s, debited to account %s on %s "+
			"(entry %d, %.16s)", d.Date, screen.Visible(d.Reason, ""), d.Release, d.Cost, d.Account, d.Debited,
			d.Sequence, d.Hash)
	}
	return err
}

// havePhrase returns "N have" with the verb in the right number.
func havePhrase(n int) string {
	if n == 1 {
		return "1 has"
	}
	return fmt.Sprintf("%d have", n)
}

// printVerification prints a verification.
func (a *app) printVerification(v *verify.Verification) {
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
	if v.Outcome != verify.DoesNotVerify || v.Withdrawn != nil { // otherwise the error says it
		a.say("\n%s", v.Says)
	}
}
