package main

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/spf13/cobra"
)

func (a *app) approveCommand() *cobra.Command {
	var (
		approval account.Approval
		key      string
		standing bool
		until    ledger.Standing
	)
	c := &cobra.Command{
		Use:   "approve PLAN --role ROLE --key FILE",
		Short: "Sign a plan in a role that its account requires",
		Long: `Print a plan, sign it with an Ed25519 key (see dprelease ledger key) and write the
approval next to it, where measure and run look for it. An approval is for this exact
plan: any other plan, and this one if it is edited, needs another approval.

With --ledger, the key must be one that the plan's account lists for the role, and
you are warned if the account has less left than the plan costs. Without a ledger,
this is not checked before the plan is measured.

With --standing, the approval is for every plan of this spec that differs only in its
parameters, until a given day and for a given number of releases. The account counts
these releases.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if approval.Role == "" || key == "" {
				return &usageError{fmt.Errorf(
					"who signs? give --role ROLE, one of the account's policy, and --key FILE")}
			}
			if standing != (until.Until != "" && until.Releases != 0) || !standing &&
				(until.Until != "" || until.Releases != 0) {
				return &usageError{fmt.Errorf(
					"a standing approval needs all of --standing, --until YYYY-MM-DD and --releases N; others have " +
						"none of them")}
			}
			if standing {
				approval.Standing = &until
			}
			var err error
			if approval.Key, err = sign.ReadKey(key); err != nil {
				return &usageError{err}
			}
			options := release.Options{Ledger: a.ledger}
			p, err := planfile.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			signed, path, err := options.Account().Approve(c.Context(), p, args[0], approval)
			if err != nil {
				return err
			}
			a.notePlan(p, path)
			var unpaid error
			if a.ledger != "" {
				if unpaid = options.CheckAffordable(c.Context(), p); unpaid != nil {
					a.outcome.Warnings = append(slices.Clip(a.outcome.Warnings), unpaid.Error())
				}
			}
			if a.json {
				return nil
			}
			if err := a.printPlan(p); err != nil {
				return err
			}
			a.say("Signed as %s: %q", signed.Role, signed.Statement)
			if signed.Standing != nil {
				a.say("It stands until %s, for %s of this spec with any parameters.", until.Until,
					budget.Plural(until.Releases, "release"))
			}
			a.say("Key fingerprint %s. Written to %s.", signed.Signer.Fingerprint(), path)
			if a.ledger == "" {
				a.say("Not checked, as no ledger was given (--ledger): whether the account lists this key for the "+
					"role %s, and has the budget of the plan.", signed.Role)
			}
			if unpaid != nil {
				a.say("Warning: as the account stands the plan cannot be measured: %v", unpaid)
			}
			return nil
		},
	}
	a.ledgerFlag(c, "without one, the key is not checked against the account")
	c.Flags().StringVar(&approval.Role, "role", "", "role in which you sign, as the account's policy names it")
	c.Flags().StringVar(&key, "key", "", "file of your private key (Ed25519, PEM)")
	c.Flags().StringVar(&approval.Statement, "statement", "",
		"what you attest, in one sentence (default: that the plan may be measured and published)")
	c.Flags().BoolVar(&standing, "standing", false, "approve the plan for all values of its parameters")
	c.Flags().StringVar(&until.Until, "until", "", "with --standing: last day, YYYY-MM-DD")
	c.Flags().Int64Var(&until.Releases, "releases", 0, "with --standing: number of releases")
	return c
}

// officeFlag adds the key that signs for the office.
func (a *app) officeFlag(c *cobra.Command, what string) {
	c.Flags().StringVar(&a.office, "office-key", "", "file of the office's private key, which signs "+what+
		" (default $DPRELEASE_OFFICE_KEY)")
}

// officeKey reads the office's key, nil if none is configured.
func (a *app) officeKey() (*sign.Key, error) {
	if a.office == "" {
		return nil, nil
	}
	key, err := sign.ReadKey(a.office)
	if err != nil {
		return nil, &usageError{err}
	}
	return &key, nil
}
