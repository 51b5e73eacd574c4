package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/draft"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/spf13/cobra"
)

func (a *app) initCommand() *cobra.Command {
	var codes []string
	c := &cobra.Command{
		Use:   "init DATA",
		Short: "Draft a spec from the column names and types of a data file",
		Long: `Draft a spec from the column names and types of a Parquet or Arrow file, or from
the header line of a CSV file, and print it. No value of the data is used: domains
are public, so you write them yourself where the draft says "# decide:".

With --codes, domains are drafted from public documents: a DDI Codebook (.xml), a
CSV file with columns variable, code and label, or a CSV file of one variable, named
after it, with columns code and label. A DDI Codebook marks the codes that stand for
a missing value, and these are left out. A CSV file cannot mark them: delete such
lines, or delete their codes from the draft.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := draft.Spec(c.Context(), args[0], codes)
			if err != nil {
				return err
			}
			a.say("%s", text)
			a.outcome.Draft = text
			return nil
		},
	}
	c.Flags().StringArrayVar(&codes, "codes", nil,
		"public document with code lists, `FILE`, from which domains are drafted; may be repeated")
	return c
}

func (a *app) checkCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check SPEC",
		Short: "Check a spec; reads no data",
		Args:  argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.planSpec(c.Context(), args[0])
			if err != nil {
				return err
			}
			a.printWarnings(p)
			a.say("%s is a valid spec: release %s, %s, %s.", args[0], p.Name, contentsText(p, ""),
				describe.Budget(p.Guarantee))
			return nil
		},
	}
	a.specFlags(c)
	a.dataFlag(c)
	return c
}

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema [spec|report]",
		Short:     "Print the JSON Schema of the spec language, or of report.json",
		ValidArgs: []string{"spec", "report"},
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains(c.ValidArgs, args[0]) {
				return &usageError{fmt.Errorf("expected: %s", c.UseLine())}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text := spec.Schema()
			if len(args) == 1 && args[0] == "report" {
				text = report.Schema()
			}
			_, err := a.page().Write(text)
			return err
		},
	}
}

func (a *app) planCommand() *cobra.Command {
	var whatIf string
	var solve, trace, page bool
	c := &cobra.Command{
		Use:   "plan SPEC [--html [FILE]]",
		Short: "Print what a release will cost and how accurate it will be; reads no data",
		Args: func(c *cobra.Command, args []string) error {
			if page {
				return argCount(1, 2)(c, args)
			}
			return argCount(1, 1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			var given []string
			for _, name := range []string{"what-if", "solve", "trace", "html"} {
				if c.Flags().Changed(name) {
					given = append(given, "--"+name)
				}
			}
			if len(given) > 1 {
				return &usageError{fmt.Errorf("%s exclude each other: give one", strings.Join(given, " and "))}
			}
			s, err := a.specFile(args[0])
			if err != nil {
				return err
			}
			switch {
			case whatIf != "":
				return a.whatIf(c.Context(), s, whatIf)
			case solve:
				return a.solveBudget(c.Context(), s)
			case page:
				return a.whatIfPage(c.Context(), s, args[1:])
			case trace:
				return a.tracePlan(c.Context(), s)
			}
			p, path, err := planfile.Make(c.Context(), s, a.out)
			if err != nil {
				return err
			}
			a.notePlan(p, path)
			if a.json {
				return a.noteCosts(p)
			}
			if err := a.printPlan(p); err != nil {
				return err
			}
			if p.Release().Collection != nil {
				a.say("Written to %s. Next, the public file for the respondents' devices: dprelease local collector %s", path, args[0])
				return nil
			}
			if p.Release().Holders != nil {
				a.say("Written to %s. Next, each holder: dprelease holder sign %[1]s --holder-key FILE", path)
				return nil
			}
			a.say("Written to %s. Next, for a release on an account: dprelease measure %s --data %s --ledger FILE",
				path, path,
				filepath.Dir(args[0]))
			return nil
		},
	}
	c.Flags().StringVar(&whatIf, "what-if", "",
		"print what other budgets would buy, for example epsilon=0.5,1,2,4, and write nothing")
	c.Flags().BoolVar(&solve, "solve", false, "print the smallest budget that meets every target, and write nothing")
	c.Flags().BoolVar(&page, "html", false,
		"write nothing but a page with sliders for trying other budgets, to FILE or NAME.whatif.html")
	c.Flags().BoolVar(&trace, "trace", false, "print the result of every pass of the planner, and write nothing")
	a.outFlag(c)
	a.specFlags(c)
	a.dataFlag(c)
	return c
}

func (a *app) lossCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "loss PLAN",
		Short: "Explain the privacy loss of a plan: in total, by leaf, by table and by attribute",
		Long: `Explain the privacy loss of a plan file: of the whole release, of each leaf of its
budget, of each table on its own, and of each attribute to somebody who knows
everything else about a unit. The loss is given as ρ, as ε at several δ, and as how
often the best attack finds a unit. The last part lists what each line of the plan
costs: the lines add up to what the account is charged. Reads no data.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := planfile.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			a.notePlan(p, args[0])
			if a.outcome.Loss, err = describe.PrivacyLoss(p); err != nil {
				return err
			}
			if a.json {
				return a.noteCosts(p)
			}
			return errors.Join(a.outcome.Loss.Write(a.page()),
				describe.WriteCosts(p.Plan(), visibleWriter{a.page()}, math.MaxInt))
		},
	}
}

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run SPEC",
		Short: "Plan, measure and publish a release",
		Args:  argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.specFile(args[0])
			if err != nil {
				return err
			}
			a.data, a.approvals = cmp.Or(a.data, filepath.Dir(args[0])), cmp.Or(a.approvals, a.out)
			options, err := a.releaseOptions()
			if err != nil {
				return err
			}
			p, err := options.Load(c.Context(), s)
			if err != nil {
				return err
			}
			a.notePlan(p, "")
			a.printWarnings(p)
			result, err := dprelease.Run(c.Context(), p, a.stepOptions())
			a.notePayment(c.Context(), p, options)
			if err != nil {
				return err
			}
			a.printPublished(p, result)
			return nil
		},
	}
	a.outFlag(c)
	a.specFlags(c)
	a.measureFlags(c, "the spec's folder")
	return c
}

func (a *app) measureCommand() *cobra.Command {
	fromShards, counted := "", ""
	var held heldPart
	c := &cobra.Command{
		Use:   "measure PLAN",
		Short: "Read the confidential tables once, debit the account and draw the noise",
		Long: `Read the confidential tables once, debit the account, draw the noise and seal the noisy
integers in NAME.measured. If it is interrupted, run it again: it resumes, and draws the
same noise.

With --from-shards DIR, the tables are not read here: DIR has what other machines have
counted of a plan that was prepared for them (dprelease prepare, dprelease count).

With --holder NAME, the release is of several holders, and this one measures its part:
the noisy integers are masked and sealed in NAME.HOLDER.share, for whoever combines the
shares of all (dprelease combine). All must have signed the plan (dprelease holder sign).
For an additive model all measure at the same time: in each round they give each other
their masked answers in the folder --rounds, which all of them can read and write.

With --counted DIR, tables in Spark are not read: DIR has what Spark has counted of a plan
that was prepared for it (dprelease prepare, dprelease count --emit).`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := planfile.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			a.data, a.approvals = cmp.Or(a.data, "."), cmp.Or(a.approvals, filepath.Dir(args[0]))
			options, err := a.releaseOptions()
			if err != nil {
				return err
			}
			a.notePlan(p, release.MeasuredFolder(a.out, p.Name))
			steps := a.stepOptions()
			steps.FromShards, steps.FromSpark = fromShards, counted
			if err := held.check(); err != nil {
				return err
			}
			if held.holder != "" {
				a.outcome.Path = release.ShareFolder(a.out, p.Name, held.holder)
				steps.Holder, steps.HolderKey, steps.Roll = held.holder, held.key,
					cmp.Or(held.roll, filepath.Dir(args[0]))
				steps.Rounds = held.rounds
			}
			result, err := dprelease.Measure(c.Context(), p, steps)
			a.notePayment(c.Context(), p, options)
			if err != nil {
				return err
			}
			if result.AlreadyDone {
				a.printAlready(result)
				return nil
			}
			if a.ledger == "" {
				a.practiceBanner()
			}
			a.outcome.Path = result.Folder
			if held.holder != "" {
				a.say("Measured the part of %s, %s for %s. Its share, masked: %s.", held.holder, contentsText(p, ""),
					describe.Budget(p.Guarantee), a.outcome.Path)
				a.say("Next, with the shares of all holders: dprelease combine *.share")
				return nil
			}
			a.say("Measured %s for %s. Sealed in %s. Next: dprelease publish %s", contentsText(p, ""),
				describe.Budget(p.Guarantee),
				a.outcome.Path, a.outcome.Path)
			if counted != "" {
				a.say("Remove %s and its copies: they have exact counts, and the keys by which rows were chosen.",
					counted)
			}
			return nil
		},
	}
	a.outFlag(c)
	a.measureFlags(c, "the current folder")
	c.Flags().StringVar(&counted, "counted", "", "folder of the job that Spark has run")
	held.addFlags(c)
	c.Flags().StringVar(&fromShards, "from-shards", "", "folder with what other machines have counted")
	return c
}

func (a *app) publishCommand() *cobra.Command {
	var only dprelease.Options // the options of this step alone
	c := &cobra.Command{
		Use:   "publish MEASURED",
		Short: "Make tables and report from sealed measurements; costs no budget, may be repeated",
		Long: `Make tables and report from sealed measurements. It costs no budget and may be
repeated: the result is the same, byte for byte.

With --revision N, this version of the program publishes the same measurements
again, in NAME-rN, next to the publication that it replaces.

With --words NAME.words.json, titles and labels are taken from that file, which
dprelease plan SPEC writes: a changed text is a revision, without another debit.

With --rows N, the microdata have N rows, drawn from the same measurements. With
--method tables, their model uses everything that was measured, including the
tables.`,
		Args: argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if only.Revision < 1 {
				return &usageError{fmt.Errorf("--revision %d: publications are numbered from 1, which is the first",
					only.Revision)}
			}
			if _, err := a.officeKey(); err != nil {
				return err
			}
			steps := a.stepOptions()
			steps.Revision, steps.Reason, steps.Words = only.Revision, only.Reason, only.Words
			steps.Rows, steps.Methods = only.Rows, only.Methods
			r, err := dprelease.Publish(c.Context(), args[0], steps)
			if err != nil {
				return err
			}
			a.outcome.Path, a.outcome.Marked = r.Folder, r.Status
			if r.Status == published.PracticeStatus {
				a.say("%s: it was measured on a practice account.", r.Status)
			}
			if r.AlreadyDone {
				a.outcome.Status = "already done"
				a.say("Already done: %s holds what these measurements lead to, byte for byte.", r.Folder)
			} else {
				a.say("Published in %s. Open %s first.", r.Folder, filepath.Join(r.Folder, "report.html"))
			}
			a.printSignature(r)
			return nil
		},
	}
	a.outFlag(c)
	a.ledgerFlag(c, "with one, only what it paid for is published")
	a.officeFlag(c, "the manifest")
	c.Flags().IntVar(&only.Revision, "revision", 1, "number of this publication of the measurements")
	c.Flags().StringVar(&only.Words, "words", "",
		"a `FILE` of titles and labels to use instead of those that were sealed with the measurements")
	c.Flags().StringArrayVar(&only.Rows, "rows", nil,
		"number of rows of microdata to draw, `N` or TABLE=N, instead of the plan's")
	c.Flags().StringArrayVar(&only.Methods, "method", nil,
		"method for the model of the microdata, `METHOD` or TABLE=METHOD, instead of the plan's: tables, which uses "+
			"everything that was measured")
	c.Flags().StringVar(&only.Reason, "reason", "", "why a revision replaces the one before it, in one line")
	return c
}

func (a *app) rehearseCommand() *cobra.Command {
	var rows int64
	c := &cobra.Command{
		Use:   "rehearse SPEC",
		Short: "Try every step on made-up rows: no data, no budget",
		Args:  argCount(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if rows < 0 {
				return &usageError{fmt.Errorf("--rows %d: expected a number of rows, 0 or more", rows)}
			}
			p, err := a.planSpec(c.Context(), args[0])
			if err != nil {
				return err
			}
			options, err := a.releaseOptions()
			if err != nil {
				return err
			}
			if !c.Flags().Changed("rows") {
				rows = release.AsExpected
			}
			a.printWarnings(p)
			place, err := release.Rehearse(c.Context(), p, rows, options)
			if err != nil {
				return err
			}
			a.outcome.Path = place
			a.say("REHEARSAL, MADE-UP DATA: %s from %s. No data was read and nothing spent.", contentsText(p, ""),
				madeUpText(p, rows))
			a.say("The report as it will look: %s", filepath.Join(place, "report.html"))
			return nil
		},
	}
	a.outFlag(c)
	a.specFlags(c)
	a.dataFlag(c)
	a.memoryFlag(c)
	c.Flags().Int64Var(&rows, "rows",
		0, "number of made-up rows of each table, drawn uniformly from the declared domains; "+
			"without this flag, a table that expects a range of rows has at most 1000000, and any other 10000")
	c.Flags().Lookup("rows").DefValue = "the middle of expect"
	return c
}

// madeUpText says how many rows a rehearsal made up, of each table if they differ.
func madeUpText(p *compiled.Compiled, rows int64) string {
	var all, of []string
	for _, t := range p.Release().Tables {
		isChild := func(s spec.Synthetic) bool { return s.Table == t.Name && s.Parent != "" }
		if !slices.ContainsFunc(p.Release().Synthetic, isChild) {
			text := budget.Plural(release.MadeUpRows(t, rows), "made-up row")
			all, of = append(all, text), append(of, text+" of "+t.Name)
		}
	}
	if same := slices.Compact(all); len(same) == 1 {
		return same[0]
	}
	return strings.Join(of, " and ")
}

// planSpec reads and plans the spec that a command names.
func (a *app) planSpec(ctx context.Context, path string) (*compiled.Compiled, error) {
	s, err := a.specFile(path)
	if err != nil {
		return nil, err
	}
	p, err := dprelease.Plan(ctx, path, dprelease.Spec{Params: s.Params, Public: s.Public, Data: s.Data})
	if err != nil {
		return nil, err
	}
	a.notePlan(p, "")
	return p, nil
}

// notePlan records the plan in the outcome.
func (a *app) notePlan(p *compiled.Compiled, path string) {
	a.outcome.Release, a.outcome.PlanHash, a.outcome.Path = p.Name, p.Hash(), path
	a.outcome.Warnings, a.outcome.OtherNoise = describe.Warnings(language.English, p.Plan()), p.OtherNoise
}

// printPlan prints the page that a person signs, with the costs of its lines.
func (a *app) printPlan(p *compiled.Compiled) error {
	return errors.Join(describe.Explain(p, visibleWriter{a.page()}),
		describe.WriteCosts(p.Plan(), visibleWriter{a.page()},
			describe.PageLines))
}

// noteCosts records what each line of a plan costs, for --json.
func (a *app) noteCosts(p *compiled.Compiled) error {
	c, err := describe.CostsOf(p.Plan())
	a.outcome.Costs = &c
	return err
}

// notePayment records what the release costs and what its accounts have left after the run, for --json, whether or not
// the run succeeded.
func (a *app) notePayment(ctx context.Context, p *compiled.Compiled, o release.Options) {
	if !a.json {
		return
	}
	if payment, err := o.Payment(ctx, p); err == nil || payment.Cost.Definition() != "" {
		a.outcome.Payment = &payment
	}
}

// printWarnings prints what an approver should know, except what every spec with `expect` would repeat: the page of
// the plan, which is approved, says that.
func (a *app) printWarnings(p *compiled.Compiled) {
	for _, w := range describe.BriefWarnings(language.English, p.Plan()) {
		a.say("Warning: %s.", w)
	}
}

// practiceBanner prints that a practice run is not a release.
func (a *app) practiceBanner() {
	a.say("PRACTICE, NOT A RELEASE: no ledger is configured (--ledger FILE or DPRELEASE_LEDGER), so a practice " +
		"account pays.")
}

// printAlready prints where a release is that existed before.
func (a *app) printAlready(r dprelease.Result) {
	a.outcome.Status = "already done"
	a.say("Already done from the same plan, nothing spent: %s", r.Folder)
	a.printChanged(r)
}

// printSignature prints whether a published folder is signed and what was done about it. A folder that must not be
// passed on needs no signature.
func (a *app) printSignature(r dprelease.Result) {
	switch a.outcome.Signature = r.Signature; release.Signature(r.Signature) {
	case release.Unsigned:
		switch {
		case r.Status == published.PracticeStatus:
		case a.office != "":
			a.say("Not signed: nothing is signed that cannot be compared with its measurements. Put NAME.measured " +
				"back to where it was and run again.")
		default:
			a.say("Not signed: no office key was given, and the folder does not show who published it. Where the " +
				"office's key signs the ledger, dprelease publish NAME.measured --office-key KEY signs the folder too.")
		}
	case release.SignedNow:
		a.say("Signed with the office's key: manifest.sig")
	case release.SignatureAdded:
		a.say("Signed now: it had no signature, and manifest.sig was added with the office's key. No other file has changed.")
	case release.SignatureReplaced:
		a.say("Signed anew: manifest.sig was not by the office's key, and is now. No other file has changed.")
	case release.SignedBefore:
		a.say("It was signed before: manifest.sig is as it was.")
	}
}

// printChanged prints a note if the source files have changed since a release counted them.
func (a *app) printChanged(r dprelease.Result) {
	if a.outcome.InputsChanged = r.InputsChanged; r.InputsChanged != "" {
		a.say("Note: the source files are no longer those that were counted on %s, and they were not counted again. "+
			"To publish mended data, give the release a new name and name this one in `corrects:`.", r.InputsChanged)
	}
}

// contentsText returns what a release publishes: tables, with the number of cells if given, microdata and models.
func contentsText(p *compiled.Compiled, cells string) string {
	var all []string
	if len(p.Tables) > 0 {
		all = append(all, budget.Plural(int64(len(p.Tables)), "table")+cells)
	}
	if len(p.Synthetic) > 0 {
		all = append(all, "microdata")
	}
	if len(p.AllModels()) > 0 {
		all = append(all, budget.Plural(int64(len(p.AllModels())), "model"))
	}
	return language.English.List(all)
}

// printPublished prints where a finished release is.
func (a *app) printPublished(p *compiled.Compiled, r dprelease.Result) {
	a.outcome.Path, a.outcome.Marked = r.Folder, r.Status
	if r.Status == published.PracticeStatus {
		a.practiceBanner()
	}
	if r.AlreadyDone {
		a.printAlready(r)
		a.printSignature(r)
		return
	}
	lines := [][2]string{
		{"report.html", "what was promised, what it cost, how good each table is: open this first"},
		{"README.txt", "how to read the tables with DuckDB, pandas and R"},
	}
	if len(p.Tables) == 0 && len(p.Synthetic) == 0 {
		lines = [][2]string{
			{"report.html", "what was promised, what it cost, how well each model predicts: open this first"},
			{"README.txt", "what is in each file"},
		}
	}
	if len(p.Tables) > 0 {
		lines = append(lines, [2]string{"tables/", "a Parquet file per table, with error bars"})
	}
	if len(p.Synthetic) > 0 {
		lines = append(lines, [2]string{"microdata/",
			"rows drawn from a model, a Parquet file per table: without intervals"})
	}
	if len(p.AllModels()) > 0 {
		lines = append(lines, [2]string{"models/", "a JSON file per model, with all that a prediction needs"})
	}
	a.say("Published %s for %s in %s:", contentsText(p, " ("+cellsText(p)+")"), describe.Budget(p.Guarantee), r.Folder)
	for _, line := range append(lines, [2]string{"manifest.json", "every other file with its SHA-256"}) {
		a.say("  %-14s %s", line[0], line[1])
	}
	a.printSignature(r)
	a.printChanged(r)
}
