package main

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/dprelease/dprelease"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/spf13/cobra"
)

// This file holds the commands by which several holders make one release together.

func (a *app) holderCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "holder",
		Short: "Take part in a release that several holders of data make together",
		Args:  knownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.holderKeyCommand(), a.holderSignCommand(), a.holderWithdrawCommand())
	return c
}

func (a *app) holderKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key NAME",
		Short: "Make the key of a holder",
		Long: `Make a holder's key. The private key, which stays with the holder, is written to NAME,
and the public key, for the spec of the release, to NAME.pub. The folder NAME.book notes
what is signed and drawn with the key. Keep it next to the key, and copy neither.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			key, err := release.MakeHolderKey(args[0])
			if err != nil {
				return &usageError{err}
			}
			a.outcome.Path, a.outcome.HolderKey = args[0], key.String()
			a.say("Private key: %s, which stays with the holder. Public key: %[1]s.pub, for the spec.", args[0])
			a.say("Its book, %s.book, stays next to the private key: nothing is signed or measured without it.",
				args[0])
			a.say("Fingerprint of the public key: %s", key.Fingerprint())
			return nil
		},
	}
}

func (a *app) holderSignCommand() *cobra.Command {
	path, anew := "", false
	c := &cobra.Command{
		Use:   "sign PLAN --holder-key FILE",
		Short: "Sign a plan as one of its holders",
		Long: `Sign a plan as one of its holders, in NAME.HOLDER.roll. The signature says that the
holder takes part in this release, with the other holders of the plan and their keys.
Read the plan before, and compare the fingerprints of the keys with the other holders.

Every holder needs the signatures of all before it measures (dprelease measure --roll).

If a holder has withdrawn (dprelease holder withdraw), put its withdrawal into the output
folder and sign again: the signature is then for the holders that are left.

What was signed and measured is noted in KEY.book, next to the private key. A share is
drawn once for a signature. To draw again, such as for a release after a trial, every
holder signs with --anew and measures again, at another debit.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := planfile.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			signed, err := release.SignRoll(c.Context(), p, path, a.out, anew)
			if err != nil {
				return err
			}
			a.notePlan(p, signed.Path)
			a.say("Signed by %s: %s. Every holder needs it before it measures.", signed.Holder, signed.Path)
			a.say("Those who take part, with the fingerprints of their keys:")
			for _, name := range signed.Roll.Holders {
				a.say("  %s: %s", name, signed.Roll.Keys[name].Fingerprint())
			}
			with := len(signed.Roll.Holders)
			a.say("The guarantee holds as long as no more than %d of these %d pool what they know.",
				with-p.Release().Holders.Trusted, with)
			return nil
		},
	}
	a.outFlag(c)
	c.Flags().StringVar(&path, "holder-key", "", "file of the holder's private key (dprelease holder key)")
	c.Flags().BoolVar(&anew, "anew", false, "sign for another draw than the last one, as all holders do")
	return c
}

func (a *app) holderWithdrawCommand() *cobra.Command {
	path := ""
	c := &cobra.Command{
		Use:   "withdraw PLAN --holder-key FILE",
		Short: "Sign that a holder takes no part in a release",
		Long: `Sign that a holder takes no part in a release after all, in NAME.HOLDER.withdrawn: that
its share has not left it, and never will. From then on the key measures nothing by this
plan. It is refused if the key has drawn a share for the plan (KEY.book knows), or if the
account was debited for it.

The other holders put the file next to the plan, sign again (dprelease holder sign) and
measure again: shares that they have drawn are masked anew, at no cost.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := planfile.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			a.approvals = cmp.Or(a.approvals, filepath.Dir(args[0]))
			o, err := a.releaseOptions()
			if err != nil {
				return err
			}
			signed, err := release.Withdraw(c.Context(), p, o, path)
			if err != nil {
				return err
			}
			a.notePlan(p, signed.Path)
			a.say("Signed: %s takes no part, in %s. Every other holder needs it, signs again and measures again.",
				signed.Holder,
				signed.Path)
			return nil
		},
	}
	a.outFlag(c)
	a.ledgerFlag(c, "without one, a practice account is asked")
	a.stateFlag(c)
	a.todayFlag(c)
	a.officeFlag(c, "the entries of a signed ledger")
	c.Flags().StringVar(&a.approvals, "approvals", "", "folder of the plan's approvals (default: the plan's folder)")
	c.Flags().StringVar(&path, "holder-key", "", "file of the holder's private key (dprelease holder key)")
	return c
}

// heldPart says of which of several holders a part is measured; of none if all data are in one place.
type heldPart struct{ holder, key, roll, rounds string }

func (h *heldPart) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&h.holder, "holder", "", "name of the holder whose part is measured")
	c.Flags().StringVar(&h.key, "holder-key", "", "file of the holder's private key (dprelease holder key)")
	c.Flags().StringVar(&h.rounds, "rounds", "", "folder that all holders share, for the rounds of additive models")
	c.Flags().StringVar(&h.roll, "roll", "", "folder with the signatures of all holders (default: the plan's folder)")
}

// check returns an error unless holder and key are both given, or neither, and the key can be read.
func (h *heldPart) check() error {
	if (h.holder == "") != (h.key == "") {
		return &usageError{errors.New("--holder NAME and --holder-key FILE are given together")}
	}
	if h.holder == "" {
		return nil
	}
	if _, err := holder.ReadKey(h.key); err != nil {
		return &usageError{err}
	}
	return nil
}

func (a *app) combineCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "combine SHARE ...",
		Short: "Add the shares of all holders of a release; costs no budget, may be repeated",
		Long: `Add the shares of all holders of a release and seal the sum in NAME.measured. The masks
of the shares cancel in the sum, and only there: a share that is missing, given twice,
altered or of another plan is refused.

Then dprelease publish makes the release from it, as from any measurements.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := dprelease.Combine(c.Context(), args, a.stepOptions())
			if err != nil {
				return err
			}
			a.outcome.Path, a.outcome.Marked = r.Folder, r.Status
			if r.Status == published.PracticeStatus {
				a.say("%s: it was measured on practice accounts.", r.Status)
			}
			if r.AlreadyDone {
				a.printAlready(r)
				return nil
			}
			a.say("Added %d shares. Sealed in %s. Next: dprelease publish %[2]s", len(args), r.Folder)
			return nil
		},
	}
	a.outFlag(c)
	return c
}
