package main

import (
	"errors"

	"github.com/dprelease/dprelease/internal/release"
	"github.com/spf13/cobra"
)

func (a *app) ledgerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "The durable privacy account",
		Args:  aCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.ledgerInitCommand(), a.ledgerShowCommand())
	return c
}

func (a *app) ledgerInitCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "init POLICY",
		Short: "Open an account: unit, neighbours, definition and cap from a policy file",
		Long: `Open an account from a policy file such as

  account: lfs-panel
  protects: person          # the unit
  neighbours: add-remove    # or replace
  cap: {epsilon: 6}         # or {rho: 1/2}

The ledger file is made if it is not there.`,
		Args: between(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if a.ledger == "" {
				return errNoLedger
			}
			policy, err := release.InitAccount(c.Context(), a.ledger, args[0])
			if err != nil {
				return err
			}
			a.say("Account %s is open in %s with a cap of %s.", policy.Account, a.ledger, policy.Cap)
			return nil
		},
	}
	a.ledgerFlag(c, "there must be one")
	return c
}

func (a *app) ledgerShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "show [ACCOUNT]",
		Short: "What an account has spent and has left",
		Args:  between(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if a.ledger == "" {
				return errNoLedger
			}
			statements, err := release.Statements(c.Context(), a.ledger, args)
			if err != nil {
				return err
			}
			for _, s := range statements {
				a.say("%s", s)
				a.outcome.Accounts = append(a.outcome.Accounts, s)
			}
			return nil
		},
	}
	a.ledgerFlag(c, "practice accounts are in .dprelease/practice.db of the output folder")
	return c
}

// errNoLedger asks for a ledger file.
var errNoLedger = &usageError{errors.New("which ledger? give --ledger FILE or set DPRELEASE_LEDGER")}
