package main

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/spf13/cobra"
)

// ledgerOutcome is the part of the outcome that only the ledger commands fill.
type ledgerOutcome struct {
	History  []ledger.Event `json:"history,omitempty"`  // of ledger history
	Key      string         `json:"key,omitempty"`      // of ledger key: the public one
	Released []string       `json:"released,omitempty"` // of ledger verify: releases whose debits the ledger holds
	Skipped  []string       `json:"skipped,omitempty"`  // of ledger verify: folders that were not compared, with why
	Added    []string       `json:"added,omitempty"`    // of ledger upgrade: the guards that were missing
}

func (a *app) ledgerCommand() *cobra.Command {
	return commandGroup("ledger", "Manage the privacy accounts of a ledger", a.ledgerKeyCommand(),
		a.ledgerInitCommand(),
		a.ledgerShowCommand(), a.ledgerGrantCommand(), a.ledgerHistoryCommand(), a.ledgerVerifyCommand(),
		a.ledgerUpgradeCommand(), a.ledgerExportCommand(), a.ledgerAbandonCommand(), a.ledgerWithdrawCommand())
}

// commandGroup returns a command that holds others and does nothing itself.
func commandGroup(name, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

func (a *app) ledgerKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key FILE",
		Short: "Make a key pair for an approver or for the office",
		Long: `Draw an Ed25519 key, write it to FILE, which only its owner can read, and its public
key to FILE.pub. An approver gives the public key to whoever writes the account's
policy. The office signs its ledger with its private key (--office-key), and gives
everybody its public key or the fingerprint of it.`,
		Args: argCount(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := sign.Generate(args[0])
			if err != nil {
				return &usageError{err}
			}
			a.outcome.Path, a.outcome.Key = args[0], key.String()
			a.say("The private key is in %s: it stays with you. The public key is in %s.pub, fingerprint %s.", args[0],
				args[0],
				key.Fingerprint())
			return nil
		},
	}
}

func (a *app) ledgerInitCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "init POLICY",
		Short: "Open an account from a policy file: unit, neighbours, cap and who approves",
		Long: `Open an account from a policy file such as

    account: lfs-2026q1
    protects: person             # the unit
    neighbours: add-remove       # or replace
    cap: {rho: 1/2}              # or {rho: 1/2, delta: 1e-6}, or {epsilon: 6}

which may also have

    parent: lfs-register         # every debit of this account is one there too
    allowance: {per: quarter, cap: {rho: 1/8}}
    approvals: {methodologist: [anna.pub, bo.pub], officer: [carl.pub]}
    witness: /mnt/safe/ledger.heads

The ledger is created if it does not exist. With --office-key, every entry of a new
ledger is signed, and only that key can write to it. See docs/ledger.md.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := a.configuredLedger()
			if err != nil {
				return err
			}
			policy, err := l.Init(c.Context(), args[0])
			if err != nil {
				return err
			}
			a.say("Account %s is open in %s with a cap of %s.", policy.Account, ledger.PlaceName(a.ledger), policy.Cap)
			return nil
		},
	}
	a.ledgerFlag(c, "there must be one")
	a.officeFlag(c, "every entry of the ledger")
	a.todayFlag(c)
	return c
}

func (a *app) ledgerShowCommand() *cobra.Command {
	trust := ""
	c := &cobra.Command{
		Use:   "show [ACCOUNT]",
		Short: "Print what an account has spent and what is left",
		Args:  argCount(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if a.ledger == "" {
				return errNoLedger
			}
			statements, err := account.Ledger{Path: a.ledger, Trust: trust}.Statements(c.Context(), args)
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
	trustFlag(c, &trust)
	a.ledgerFlag(c, "practice accounts are in .dprelease/practice.db of the output folder")
	return c
}

func (a *app) ledgerGrantCommand() *cobra.Command {
	var epsilon, rho, delta, role, key, statement string
	grant := ledger.Grant{}
	c := &cobra.Command{
		Use:   "grant ACCOUNT (--epsilon E | --rho R [--delta D]) --reason TEXT",
		Short: "Raise the cap of an account, or sign such a grant",
		Long: `Raise the cap of an account permanently. If the account's policy names roles, each of
them must first have signed the same grant: with --role and --key, the grant is
signed instead of made. The approval is written to the --approvals folder, where it is
looked for when the grant is made.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			grant.Account = args[0]
			a.approvals = cmp.Or(a.approvals, ".")
			var err error
			if grant.Amount, err = parseGrant(epsilon, rho, delta); err != nil {
				return err
			}
			if grant.Reason == "" {
				return &usageError{errors.New("why? give --reason TEXT: it stays in the account")}
			}
			if (role == "") != (key == "") {
				return &usageError{errors.New("to sign a grant give both --role ROLE and --key FILE")}
			}
			if role != "" {
				return a.signGrant(grant, role, key, statement)
			}
			l, err := a.configuredLedger()
			if err != nil {
				return err
			}
			s, err := l.Grant(c.Context(), grant)
			if err != nil {
				return err
			}
			a.outcome.Accounts = append(a.outcome.Accounts, s)
			a.say("The cap of account %s is %s now, of which %s is left.", s.Account, s.Cap, s.Left)
			return nil
		},
	}
	c.Flags().StringVar(&epsilon, "epsilon", "", "ε to add to the cap")
	c.Flags().StringVar(&rho, "rho", "", "ρ to add to the cap")
	c.Flags().StringVar(&delta, "delta", "", "with --rho: δ to add to the cap")
	c.Flags().StringVar(&grant.Reason, "reason", "", "why, in one line; it stays in the account")
	c.Flags().StringVar(&role, "role", "", "sign the grant in this role instead of making it")
	c.Flags().StringVar(&key, "key", "", "with --role: file of your private key")
	c.Flags().StringVar(&statement, "statement", "", "with --role: what you attest, in one sentence")
	c.Flags().StringVar(&a.approvals, "approvals", "", "folder of the grant's approvals (default: the current folder)")
	a.ledgerFlag(c, "required, except to sign")
	a.officeFlag(c, "the entries of a signed ledger")
	a.todayFlag(c)
	return c
}

func (a *app) signGrant(g ledger.Grant, role, keyFile, statement string) error {
	key, err := sign.ReadKey(keyFile)
	if err != nil {
		return &usageError{err}
	}
	path, err := account.Ledger{Approvals: a.approvals}.SignGrant(g, role, statement, key)
	if err != nil {
		return err
	}
	a.outcome.Path = path
	a.say("Signed as %s that the cap of account %s be raised by %s. Key fingerprint %s. Written to %s.", role,
		g.Account,
		g.Amount, key.Public().Fingerprint(), path)
	return nil
}

// parseGrant parses what a grant adds to a cap.
func parseGrant(epsilon, rho, delta string) (c budget.Cost, err error) {
	if (epsilon == "") == (rho == "") || delta != "" && rho == "" {
		return c, &usageError{errors.New(
			"how much? give --epsilon E, or --rho R and perhaps --delta D, as the account's cap is")}
	}
	for _, amount := range []struct {
		text string
		to   **big.Rat
	}{{epsilon, &c.Epsilon}, {rho, &c.Rho}, {delta, &c.Delta}} {
		if amount.text != "" && err == nil {
			*amount.to, err = budget.ParseRat(amount.text)
		}
	}
	if err == nil {
		err = c.Validate()
	}
	if err == nil && c.IsZero() {
		err = errors.New("a grant of nothing")
	}
	if err != nil {
		return c, &usageError{err}
	}
	return c, nil
}

func (a *app) ledgerHistoryCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "history [ACCOUNT]",
		Short: "Print every entry of the ledger, or of an account, in words",
		Long: `Print every entry of the ledger, or those that concern one account, in words, with
the time at which it was made. The time of day is for the office only: an export
(ledger export) has only the days.`,
		Args: argCount(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := a.configuredLedger()
			if err != nil {
				return err
			}
			account := ""
			if len(args) > 0 {
				account = args[0]
			}
			if a.outcome.History, err = l.History(c.Context(), account); err != nil {
				return err
			}
			for _, e := range a.outcome.History {
				a.say("%s", e)
			}
			return nil
		},
	}
	a.ledgerFlag(c, "there must be one")
	return c
}

func (a *app) ledgerVerifyCommand() *cobra.Command {
	var against []string
	trust := ""
	c := &cobra.Command{
		Use:   "verify [--against DIR]… [--trust FILE]",
		Short: "Check every entry of the ledger, and that it holds the debits of releases",
		Long: `Check that the entries of the ledger form one chain, that each is signed if the
ledger is signed, that each was admissible after those before it, and that no witness
knows a newer entry. With --against, also check that the ledger holds the debit of
every release in a folder: an older copy of the ledger lacks the debits made since.
With --trust, also check that the ledger is signed with that key: anybody can write
an unsigned one.`,
		Args: argCount(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := a.configuredLedger()
			if err != nil {
				return err
			}
			l.Trust = trust
			v, err := l.Verify(c.Context(), against)
			if err != nil {
				return err
			}
			a.outcome.Accounts, a.outcome.Released = v.Accounts, v.Releases
			a.outcome.Skipped = v.Skipped
			a.printLedgerVerified(v)
			return nil
		},
	}
	c.Flags().StringArrayVar(&against, "against", nil, "folder of one or several releases; may be repeated")
	trustFlag(c, &trust)
	a.ledgerFlag(c, "there must be one")
	return c
}

func (a *app) ledgerUpgradeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "upgrade",
		Short: "Add to a PostgreSQL ledger the guards that an earlier version did not create",
		Long: `Add to a ledger in PostgreSQL the triggers that guard its entries and that an earlier
version of dprelease did not create, in one transaction, after every entry has been
checked. No entry changes. A ledger that lacks no trigger stays as it is, and so does
a ledger in a file. Run it as the owner of the tables. From then on, earlier versions
of dprelease refuse the ledger.`,
		Args: argCount(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := a.configuredLedger()
			if err != nil {
				return err
			}
			if a.outcome.Added, err = l.Upgrade(c.Context()); err != nil {
				return err
			}
			if len(a.outcome.Added) == 0 {
				a.outcome.Status = "already done"
				a.say("The ledger lacks no guard.")
			}
			for _, guard := range a.outcome.Added {
				a.say("Added %s.", guard)
			}
			return nil
		},
	}
	a.ledgerFlag(c, "there must be one")
	return c
}

// trustFlag adds the key that must have signed the ledger.
func trustFlag(c *cobra.Command, trust *string) {
	c.Flags().StringVar(trust, "trust", "", "file of the office's public key: the ledger must be signed with it")
}

// printLedgerVerified prints what was checked, and what could not be.
func (a *app) printLedgerVerified(v account.Verified) {
	for _, folder := range v.Releases {
		a.say("It holds the debit of %s.", screen.Quoted(folder))
	}
	for _, folder := range v.Skipped {
		a.say("Not compared: %s.", folder)
	}
	if len(v.Accounts) == 0 {
		a.say("The ledger has no entries.")
		return
	}
	// A statement about all accounts must hold for the one about which least is known.
	s := v.Accounts[max(slices.IndexFunc(v.Accounts, func(s ledger.Statement) bool { return !s.Witnessed }), 0)]
	a.say("Entries 1 to %s, of %s, are one chain, each admissible after those before it. Head %s.",
		budget.Group(s.Entries), budget.Plural(int64(len(v.Accounts)), "account"), s.Head)
	for _, line := range s.Trust() {
		a.say("%s", line)
	}
}

func (a *app) ledgerExportCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the public part of the ledger for an auditor",
		Long: `Write the public part of every entry as JSON lines, to a new file or to standard
output: accounts, amounts, plans, approvals and days, with the hashes and signatures
that they are checked by. The export has no time of day and nothing that is computed
from the data. It shows attempts that failed, so it is for an auditor and not for the
public.`,
		Args: argCount(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := a.configuredLedger()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if a.json {
					return &usageError{errors.New("--json prints one document: name the file to export to")}
				}
				return l.Export(c.Context(), "", a.page())
			}
			if err := l.Export(c.Context(), args[0], nil); err != nil {
				return err
			}
			a.outcome.Path = args[0]
			a.say("Exported to %s.", args[0])
			return nil
		},
	}
	a.ledgerFlag(c, "there must be one")
	return c
}

func (a *app) ledgerAbandonCommand() *cobra.Command {
	return a.ledgerEndCommand(&cobra.Command{
		Use:   "abandon ACCOUNT RELEASE --reason TEXT",
		Short: "Give up a release that was never finished",
		Long: `Give up a release that was reserved or debited and never finished. A reservation is
returned to the account, and the name of the release is free again. A debit stays
spent, and the release is closed for good: nothing of it may be published.`,
	}, account.Ledger.Abandon, "abandoned")
}

func (a *app) ledgerWithdrawCommand() *cobra.Command {
	return a.ledgerEndCommand(&cobra.Command{
		Use:   "withdraw ACCOUNT RELEASE --reason TEXT",
		Short: "Mark a finished release as no longer to be used",
		Long: `Mark a finished release as no longer to be used. What it cost stays spent: what was
published cannot be taken back.`,
	}, account.Ledger.Withdraw, "withdrawn")
}

func (a *app) ledgerEndCommand(c *cobra.Command, end func(account.Ledger, context.Context, string, string,
	string) (since string, err error), done string) *cobra.Command {
	var reason string
	c.Args = argCount(2, 2)
	c.RunE = func(c *cobra.Command, args []string) error {
		if reason == "" {
			return &usageError{errors.New("why? give --reason TEXT: it stays in the account")}
		}
		l, err := a.configuredLedger()
		if err != nil {
			return err
		}
		since, err := end(l, c.Context(), args[0], args[1], reason)
		if err != nil {
			return err
		}
		a.outcome.Release = args[1]
		if since != "" {
			a.outcome.Status = "already done"
			a.say("Release %s was %s on %s, for the reason that was given then. Nothing was written.", args[1], done,
				since)
			return nil
		}
		a.say("Release %s is %s.", args[1], done)
		return nil
	}
	c.Flags().StringVar(&reason, "reason", "", "why, in one line; it stays in the account")
	a.ledgerFlag(c, "there must be one")
	a.officeFlag(c, "the entries of a signed ledger")
	a.todayFlag(c)
	return c
}

// configuredLedger returns the ledger of the ledger commands, which need one.
func (a *app) configuredLedger() (account.Ledger, error) {
	if a.ledger == "" {
		return account.Ledger{}, errNoLedger
	}
	office, err := a.officeKey()
	if err != nil {
		return account.Ledger{}, err
	}
	return account.Ledger{Path: a.ledger, Approvals: a.approvals, Office: office, Today: a.today}, nil
}

// errNoLedger reports that no ledger is configured.
var errNoLedger = &usageError{errors.New("which ledger? give --ledger FILE or set DPRELEASE_LEDGER")}
