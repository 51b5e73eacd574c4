package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/seal"
	"github.com/spf13/cobra"
)

// This file holds the commands by which several machines count the tables of one release.

func (a *app) machineKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "machine-key NAME",
		Short: "Make the key of a machine that counts a shard",
		Long: `Make a key pair (X25519). The private key, which stays on the machine, is written to
NAME, and the public key, for whoever prepares a plan, to NAME.pub.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			public, err := seal.Generate(args[0])
			if err != nil {
				return &usageError{err}
			}
			a.outcome.Path, a.outcome.MachineKey = args[0], public.String()
			a.say("Private key: %s, which stays on this machine. Public key: %[1]s.pub, for dprelease prepare.",
				args[0])
			a.say("Fingerprint of the public key: %s", public.Fingerprint())
			return nil
		},
	}
}

func (a *app) prepareCommand() *cobra.Command {
	var division release.Division
	var machines []string
	var cancel bool
	c := &cobra.Command{
		Use:   "prepare PLAN [--shards N --for MACHINE.pub ...]",
		Short: "Reserve a plan's cost, and hand its row key to the machines that will count",
		Long: `Prepare a plan whose tables several machines count: reserve its cost in the account,
draw its key, and write the row key, by which rows are counted, to NAME.rowkey. It is
sealed for the machines whose public keys are given. The noise cannot be derived from it.

Each machine then counts one shard (dprelease count), and dprelease measure --from-shards
puts the shards together. Run it with the same ledger, --state and --out.

A machine believes a row key only with its fingerprint, which is printed here: give it to
the machines by another way than the file.

With --own-files, each machine has files of its own, with all rows of their units.
Without, all machines have the same files, and each counts its share of the units.

If a table is in Spark, which counts all of it, no shards and no machines are named:
dprelease count --emit writes the job that Spark runs.

With --cancel, the reservation is given back and the key erased.`,
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
			a.notePlan(p, release.RowKeyFile(a.out, p))
			if cancel {
				if err := release.Cancel(c.Context(), p, o); err != nil {
					return err
				}
				a.say("Taken back: the reservation of %s is given back, and its key erased.", p.Name)
				return nil
			}
			var keys []seal.PublicKey
			var says []string
			for _, path := range machines {
				key, err := seal.ReadPublicKey(path)
				if err != nil {
					return &usageError{err}
				}
				keys, says = append(keys, key), append(says, fmt.Sprintf("  %s: %s", path, key.Fingerprint()))
			}
			handed, err := release.Prepare(c.Context(), p, o, division, keys)
			if err != nil {
				return err
			}
			a.outcome.Fingerprint = handed.Fingerprint
			if a.ledger == "" {
				a.practiceBanner()
			}
			if handed.File == "" {
				a.outcome.Path = ""
				a.say("Reserved. Next: dprelease count %s --emit DIR", args[0])
				return nil
			}
			a.say("Reserved, and sealed the row key for %d machines: %s", len(keys), handed.File)
			a.say("Compare the fingerprints of their public keys with what dprelease machine-key printed there:")
			a.say("%s", strings.Join(says, "\n"))
			a.say("Its fingerprint, to be given to the machines by another way: %s", handed.Fingerprint)
			a.say("On each machine, I being 1 to %d:", division.Shards)
			a.say("  dprelease count %s --shard I/%d --row-key %s --machine-key KEY \\\n    --fingerprint %q --data "+
				"DIR -o SHARDS",
				args[0], division.Shards, handed.File, handed.Fingerprint)
			a.say("Then here: dprelease measure %s --from-shards SHARDS", args[0])
			return nil
		},
	}
	a.outFlag(c)
	a.ledgerFlag(c, "without one, a practice account pays")
	a.stateFlag(c)
	a.todayFlag(c)
	a.officeFlag(c, "the entries of a signed ledger")
	c.Flags().StringVar(&a.approvals, "approvals", "", "folder of the plan's approvals (default: the plan's folder)")
	c.Flags().IntVar(&division.Shards, "shards", 0, "number of shards, each counted by one machine or one run of it")
	c.Flags().BoolVar(&division.OwnFiles, "own-files", false, "each machine has files of its own, with all rows of "+
		"their units")
	c.Flags().StringArrayVar(&machines, "for", nil, "file of the public key of a machine (dprelease machine-key); "+
		"may be repeated")
	c.Flags().BoolVar(&cancel, "cancel", false, "take the preparation back")
	return c
}

func (a *app) countCommand() *cobra.Command {
	var count release.ShardCount
	var shard, key, emit string
	c := &cobra.Command{
		Use:   "count PLAN {--shard I/N --row-key FILE --machine-key FILE --fingerprint TEXT | --emit DIR}",
		Short: "Count a shard of a plan's tables on this machine, or write the job by which Spark counts",
		Long: `Count one shard of the tables of a plan that was prepared (dprelease prepare), and seal
the exact counts in NAME.shard-I-of-N, for whoever prepared the plan: nobody else can
open them. Nothing is spent, and no ledger is asked.

dprelease prepare printed the fingerprint of the row key file. Ask the person who prepared
the plan for it, and do not take it from where the file came from.

With --emit DIR nothing is counted here: a job for Spark is written into DIR. It has two
rounds, so run the command before each of them, and once more to see that all is there.
Use the same ledger, --state and --out as for dprelease prepare and measure.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if emit != "" {
				return a.emitSpark(c, args[0], emit)
			}
			if n, err := fmt.Sscanf(shard+"\n", "%d/%d\n", &count.Number, &count.Of); err != nil || n != 2 {
				return &usageError{fmt.Errorf("--shard %q: expected I/N, such as 3/10", shard)}
			}
			if count.RowKey == "" || key == "" || count.Fingerprint == "" {
				return &usageError{errors.New("--row-key, --machine-key and --fingerprint are needed: dprelease " +
					"prepare prints the command")}
			}
			var err error
			if count.Machine, err = seal.ReadKey(key); err != nil {
				return &usageError{err}
			}
			p, err := planfile.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			a.data, a.state = cmp.Or(a.data, "."), cmp.Or(a.state, ".dprelease")
			o, err := a.releaseOptions()
			if err != nil {
				return err
			}
			a.notePlan(p, "")
			path, err := release.CountShard(c.Context(), p, o, count)
			if err != nil {
				return err
			}
			a.outcome.Path = path
			a.say("Counted shard %s. Sealed in %s: bring it to whoever prepared the plan.", shard, path)
			return nil
		},
	}
	a.outFlag(c)
	c.Flags().StringVar(&a.state, "state", "",
		"confidential folder for what is wrong with data that are refused (default $DPRELEASE_STATE, else .dprelease "+
			"in the current folder)")
	a.memoryFlag(c)
	a.ledgerFlag(c, "for --emit; without one, a practice account pays")
	a.todayFlag(c)
	a.officeFlag(c, "the entries of a signed ledger")
	c.Flags().StringVar(&a.approvals, "approvals", "", "for --emit: folder of the plan's approvals (default: the "+
		"plan's folder)")
	c.Flags().StringVar(&emit, "emit", "", "folder into which the job for Spark is written")
	c.Flags().StringVar(&a.data, "data", "", "base folder of relative source paths (default: the current folder)")
	c.Flags().StringVar(&shard, "shard", "", "which shard, I/N")
	c.Flags().StringVar(&count.RowKey, "row-key", "", "file with the row key, NAME.rowkey")
	c.Flags().StringVar(&key, "machine-key", "", "file of this machine's private key")
	c.Flags().StringVar(&count.Fingerprint, "fingerprint", "", "fingerprint of the file with the row key")
	return c
}

// emitSpark writes the next round of the job by which Spark counts.
func (a *app) emitSpark(c *cobra.Command, planPath, dir string) error {
	p, err := planfile.Read(c.Context(), planPath)
	if err != nil {
		return err
	}
	a.approvals = cmp.Or(a.approvals, filepath.Dir(planPath))
	o, err := a.releaseOptions()
	if err != nil {
		return err
	}
	a.notePlan(p, "")
	round, err := release.EmitSpark(c.Context(), p, o, dir)
	if err != nil {
		return err
	}
	a.outcome.Path = dir
	if round == 0 {
		a.say("Spark has counted all. Next: dprelease measure %s --counted %s", planPath, dir)
		return nil
	}
	a.say("Wrote round %d of 2 of the job into %s. Have Spark run it, there or on a copy at any address:", round, dir)
	a.say("  spark-submit %s/dprelease_spark.py %[1]s", dir)
	a.say("Then copy the whole folder back, and run this command again.")
	return nil
}
