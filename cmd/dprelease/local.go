package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/respondent"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/spf13/cobra"
)

// This file holds the commands around reports that respondents' devices randomise.

func (a *app) localCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "local",
		Short: "Collect answers that respondents' devices randomise, so that nobody ever sees one",
		Args:  knownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.collectorCommand(), a.randomiseCommand(), a.gatherCommand(), a.shuffleCommand())
	return c
}

func (a *app) collectorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "collector SPEC [--ledger FILE]",
		Short: "Write the public file that respondents' devices need",
		Long: `Write NAME.collector.json, the public file of a collection: the questions, and how
devices randomise the answers to them. Devices need nothing else. The file follows from
the spec's questions: reports to it are counted by a plan with the same questions.

With a ledger, what each respondent will lose is debited now, before any device answers:
an account that cannot afford it refuses the collection. Counting the reports then costs
nothing. Without a ledger, it is recorded when the reports are first counted.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.specFile(args[0])
			if err != nil {
				return err
			}
			p, err := planfile.Load(c.Context(), s)
			if err != nil {
				return err
			}
			text, err := respondent.Collector(p.Plan())
			if err != nil {
				return &usageError{fmt.Errorf("%s: %w", args[0], err)}
			}
			if err := durable.MakeFolder(a.out, 0o755); err != nil {
				return err
			}
			if a.ledger != "" {
				a.approvals = cmp.Or(a.approvals, a.out)
				o, err := a.releaseOptions()
				if err != nil {
					return err
				}
				if err := release.RecordCollection(c.Context(), p, o); err != nil {
					return err
				}
			}
			name := p.Name + ".collector.json"
			if err := durable.ReplaceFile(a.out, name, text); err != nil {
				return err
			}
			a.notePlan(p, filepath.Join(a.out, name))
			a.say("Public file for the devices of respondents: %s", a.outcome.Path)
			lost := budget.FormatRat(p.Release().Collection.Epsilon)
			a.say("Each respondent loses ε = %s in all, however often the same answers are sent.", lost)
			if a.ledger != "" {
				a.say("Debited: ε = %s to account %s.", lost, p.Release().Privacy.Account)
			} else {
				a.say("No ledger was named (--ledger): no account was asked whether it can afford that.")
			}
			return nil
		},
	}
	a.outFlag(c)
	a.specFlags(c)
	a.dataFlag(c)
	a.ledgerFlag(c, "without one, nothing is debited before reports are counted")
	a.stateFlag(c)
	a.todayFlag(c)
	a.officeFlag(c, "the entries of a signed ledger")
	c.Flags().StringVar(&a.approvals, "approvals", "", "folder of the plan's approvals (default: the output folder)")
	return c
}

// readCollector reads a collector's public file.
func readCollector(path string) (*client.Collector, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &usageError{err}
	}
	c, err := client.Read(text)
	if err != nil {
		return nil, &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return c, nil
}

func (a *app) randomiseCommand() *cobra.Command {
	var id, memos, to string
	c := &cobra.Command{
		Use:   "randomise COLLECTOR ANSWERS.csv --to REPORTS.parquet [--id COLUMN --memos FILE]",
		Short: "Randomise answers in a CSV file as respondents' devices do",
		Long: `Randomise answers that somebody trusted has, in place of the respondents' devices: for
tests, or for answers on paper. ANSWERS.csv has a line for each respondent and a column
for each attribute that is asked, with the categories as the collector's file has them.

A respondent who answers again with other randomness loses ε again. With --id and --memos
everybody's reports are kept, and the same answer gives the same report. The file of memos
shows the answers: keep it as you keep them.`,
		Args: argCount(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if to == "" || (id == "") != (memos == "") {
				return &usageError{errors.New("--to is needed, and --id and --memos together or neither")}
			}
			if err := checkOutput("--to", to, args[0], args[1], memos); err != nil {
				return err
			}
			collector, err := readCollector(args[0])
			if err != nil {
				return err
			}
			unlock, err := lockMemos(memos)
			if err != nil {
				return err
			}
			defer unlock()
			answers, err := os.Open(args[1])
			if err != nil {
				return &usageError{err}
			}
			defer answers.Close()
			kept, err := readMemos(memos)
			if err != nil {
				return &usageError{err}
			}
			reports := int64(0)
			err = writeReports(to, func(w *respondent.Writer) error {
				if reports, err = respondent.Randomise(c.Context(), collector, answers, id, kept, w,
					nil); err != nil || memos == "" {
					return err
				}
				return durable.WritePrivate(filepath.Dir(memos), ".memos-", filepath.Base(memos), kept.Write)
			})
			if verdict.Has[*respondent.Unfit](err) {
				err = &usageError{err}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", args[1], err)
			}
			a.outcome.Path = to
			a.say("Randomised: %s in %s", budget.Plural(reports, "report"), to)
			return nil
		},
	}
	c.Flags().StringVar(&to, "to", "", "file of reports to write")
	c.Flags().StringVar(&id, "id", "", "column that identifies respondents")
	c.Flags().StringVar(&memos, "memos", "", "confidential file with what each respondent's reports were")
	return c
}

// checkOutput returns an error if the file of a flag, which is to be written, is one that is read.
func checkOutput(flag, to string, read ...string) error {
	out, err := os.Stat(to)
	if err != nil {
		return nil // there is none
	}
	for _, path := range read {
		if in, err := os.Stat(path); err == nil && os.SameFile(in, out) {
			return &usageError{fmt.Errorf("%s %s: this file is read: name another one", flag, to)}
		}
	}
	return nil
}

// lockMemos keeps other processes from changing a file of memos, "" for none, until the function that it returns is
// called: two that add to it at once would have respondents lose ε twice.
func lockMemos(path string) (unlock func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	lock, err := durable.Lock(filepath.Dir(path))
	switch {
	case errors.Is(err, durable.ErrHeld):
		return nil, fmt.Errorf("another process uses the memos in %s: run this again when it has ended",
			filepath.Dir(path))
	case errors.Is(err, errors.ErrUnsupported): // of the system
		return func() {}, nil
	case err != nil:
		return nil, &usageError{fmt.Errorf("the folder of the memos: %w", err)}
	}
	return func() { lock.Close() }, nil
}

// readMemos reads a file of memos, if there is one.
func readMemos(path string) (respondent.Memos, error) {
	f, err := os.Open(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return respondent.Memos{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return respondent.ReadMemos(f)
}

// writeReports writes a file of reports, completely or not at all. It makes its folder if there is none.
func writeReports(path string, write func(*respondent.Writer) error) error {
	if err := durable.MakeFolder(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return durable.WritePrivate(filepath.Dir(path), ".reports-", filepath.Base(path), func(f io.Writer) error {
		w := respondent.NewWriter(f)
		return errors.Join(write(w), w.Close())
	})
}

func (a *app) gatherCommand() *cobra.Command {
	return a.reportsCommand("gather", "Put reports as devices sent them into one Parquet file", `Put reports into one Parquet file, from files of JSON lines as devices send them
(*.jsonl), or from Parquet files. Reports that no device makes, those of another
collector, and those that were sent twice are left out, and counted.`, false)
}

func (a *app) shuffleCommand() *cobra.Command {
	return a.reportsCommand("shuffle", "Mix reports, and strip what traces them to their senders", `Mix reports before the collector sees them, for a spec that says shuffled: true. It is
for the trusted shuffler to run: the reports come out in a random order and without their
tokens, so that nobody can say who sent which. Delete the files that came in afterwards.

Files are JSON lines as devices send them (*.jsonl), or Parquet files. Reports that no
device makes, those of another collector, and those that were sent twice are left out.
Give all reports of a collection at once: whoever sees batches knows who is in which.`, true)
}

// reportsCommand returns a command that reads reports and writes them to one file.
func (a *app) reportsCommand(name, short, long string, mixed bool) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   name + " COLLECTOR FILE... --to REPORTS.parquet",
		Short: short,
		Long:  long,
		Args:  argCount(2, math.MaxInt),
		RunE: func(c *cobra.Command, args []string) error {
			if to == "" {
				return &usageError{errors.New("--to is needed: the file of reports to write")}
			}
			if err := checkOutput("--to", to, args...); err != nil {
				return err
			}
			collector, err := readCollector(args[0])
			if err != nil {
				return err
			}
			left, err := a.gather(c.Context(), collector, args[1:], to, mixed)
			if verdict.Has[*respondent.Unfit](err) || verdict.Has[*source.Error](err) {
				err = &usageError{err}
			}
			if err != nil {
				return err
			}
			a.outcome.Path = to
			a.say("%s in %s", budget.Plural(left.Kept, "report"), to)
			if says := left.Faults(); says != "" {
				a.say("Left out: %s", says)
			}
			return nil
		},
	}
	c.Flags().StringVar(&to, "to", "", "file of reports to write")
	a.memoryFlag(c)
	return c
}

// gather writes the reports in some files to one.
func (a *app) gather(ctx context.Context, c *client.Collector, paths []string, to string, mixed bool) (measured.Reports,
	error) {
	o, err := a.releaseOptions()
	if err != nil {
		return measured.Reports{}, err
	}
	all, left, err := respondent.Gather(ctx, c, paths, mixed, o.Memory)
	if err == nil && mixed {
		err = respondent.Mix(all)
	}
	if err != nil {
		return left, err
	}
	return left, writeReports(to, func(w *respondent.Writer) error {
		for _, one := range all {
			if err := w.Write(one, mixed); err != nil {
				return err
			}
		}
		return nil
	})
}
