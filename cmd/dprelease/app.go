package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"github.com/dprelease/dprelease"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/docs"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/diagnostics"
	"github.com/dprelease/dprelease/internal/diff"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/evaluate"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/show"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/spf13/cobra"
)

// errTerminated is the cause of a context that was canceled by SIGTERM.
var errTerminated = errors.New("terminated")

// app holds what the commands share: streams, common flags and the outcome.
type app struct {
	stdout, stderr io.Writer

	out, ledger, state, data string
	office, approvals, today string
	sets, public             []string
	json, verbose            bool
	memory                   memorySize
	progress                 *progressLine // on stderr
	started                  time.Time

	outcome outcome
}

// outcome is the one document that --json prints.
type outcome struct {
	Command string `json:"command"` // the words of the command, such as "ledger show"
	Exit    int    `json:"exit"`    // the exit code
	// done, already done, failed, interrupted, or withdrawn
	Status  string         `json:"status"`
	Reason  verdict.Reason `json:"reason,omitempty"`  // why it failed, as a stable word
	Message string         `json:"message,omitempty"` // why it failed, for a person
	Hint    string         `json:"hint,omitempty"`    // where a person finds more
	// whether to run the same command again: safe, later or never
	Retry verdict.Retry `json:"retry"`
	// how long the command took; confidential where it read data
	Seconds  float64 `json:"seconds"`
	Release  string  `json:"release,omitempty"`   // its name
	PlanHash string  `json:"plan_hash,omitempty"` // SHA-256 of the plan, in hexadecimal
	Marked   string  `json:"marked,omitempty"`    // RELEASE, or what is printed on everything instead
	Path     string  `json:"path,omitempty"`      // what was written, or found written
	// of run and publish: none, made, added, replaced or there before
	Signature        string `json:"signature,omitempty"`
	*release.Payment        // of run and measure
	Fingerprint      string `json:"fingerprint,omitempty"` // of prepare: of the file with the row key
	MachineKey       string `json:"machine_key,omitempty"` // of machine-key: the public one
	HolderKey        string `json:"holder_key,omitempty"`  // of holder key: the public one
	// of a release that was there: the day its files were counted, if they differ now
	InputsChanged string             `json:"inputs_changed_since,omitempty"`
	Problems      []document.Problem `json:"problems,omitempty"` // of a spec, all of them
	// of the plan: what an approver should know
	Warnings []string `json:"warnings,omitempty"`
	// of the plan: what another law of noise would give and cost
	OtherNoise []strategy.OtherNoise `json:"other_noise,omitempty"`
	Draft      string                `json:"draft,omitempty"`    // of init
	Plans      []*plan.Plan          `json:"plans,omitempty"`    // of plan --what-if
	Solution   *planner.Solution     `json:"solution,omitempty"` // of plan --solve
	Loss       *describe.Loss        `json:"loss,omitempty"`     // of loss
	// of plan and loss: what each line costs, up to the charge
	Costs    *describe.Costs    `json:"costs,omitempty"`
	Diff     *diff.Difference   `json:"diff,omitempty"`     // of diff
	Accounts []ledger.Statement `json:"accounts,omitempty"` // of ledger show
	ledgerOutcome
	States       []state.Leftover     `json:"states,omitempty"`       // of state clean
	Verification *verify.Verification `json:"verification,omitempty"` // of verify
	Audit        *verify.Audit        `json:"audit,omitempty"`        // of verify with several folders
	Shown        string               `json:"shown,omitempty"`        // of show
	Sheet        *show.Sheet          `json:"sheet,omitempty"`        // of show with a table
	Trace        *trace.Trace         `json:"trace,omitempty"`        // of show with a cell
	Answer       *query.Answer        `json:"answer,omitempty"`       // of query
	Total        *query.Total         `json:"total,omitempty"`        // of query with several folders, a sum or a mean
	Rows         int64                `json:"rows,omitempty"`         // of predict: how many were predicted
	Terms        []docs.Term          `json:"terms,omitempty"`        // of explain
}

// usageError reports a command line that cannot be understood.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// argCount requires from least to most arguments; any other number is a usage error that shows the usage.
func argCount(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return &usageError{fmt.Errorf("expected: %s", c.UseLine())}
		}
		return nil
	}
}

// knownCommand returns a usage error for the name of a command that does not exist.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", near[0])
	}
	return &usageError{fmt.Errorf("there is no command %q%s (see `%s --help`)", args[0], hint, c.CommandPath())}
}

// printOutcome prints the outcome of a command and returns the exit code.
func (a *app) printOutcome(ctx context.Context, err error) int {
	a.progress.end()
	ending := verdictOf(ctx, err)
	if err != nil {
		a.outcome.Message, a.outcome.Hint = errorText(ending.Exit, err), diagnostics.Hint(err)
		if problems := new(*document.Errors); errors.As(err, problems) {
			a.outcome.Problems = (*problems).Problems
		}
	}
	if a.json {
		a.printDocument(ending)
	} else if err != nil {
		stderr := visibleWriter{a.stderr} // anybody may have written file names and contents
		fmt.Fprintf(stderr, "dprelease: %s\n", a.outcome.Message)
		if a.outcome.Hint != "" {
			fmt.Fprintf(stderr, "%s\n", a.outcome.Hint)
		}
		fmt.Fprint(stderr, glossaryLine(a.outcome.Message))
	}
	return ending.Exit
}

// printDocument prints the document of --json.
func (a *app) printDocument(ending verdict.Verdict) {
	a.outcome.Exit, a.outcome.Reason, a.outcome.Retry = ending.Exit, ending.Reason, ending.Retry
	a.outcome.Seconds = math.Round(time.Since(a.started).Seconds()*1000) / 1000
	switch {
	case ending.Reason == verdict.Interrupted:
		a.outcome.Status = "interrupted"
	case ending.Reason == verdict.ReleaseWithdrawn:
		a.outcome.Status = "withdrawn"
	case ending.Reason != "":
		a.outcome.Status = "failed"
	case a.outcome.Status == "":
		a.outcome.Status = "done"
	}
	if b, err := canonical.Escaped(a.outcome); err == nil {
		a.stdout.Write(b)
	}
}

// reportPanic reports a panic without its value, which could be confidential, and returns the exit code.
func (a *app) reportPanic(place string) int {
	a.progress.end()
	a.outcome.Message = fmt.Sprintf(
		"internal error at %s: this is a bug, please report it; run again and the release resumes", place)
	if a.json {
		a.printDocument(verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.InternalError,
			Retry: verdict.Safe})
	} else {
		fmt.Fprintf(a.stderr, "dprelease: %s\n", a.outcome.Message)
	}
	return verdict.ExitEnvironment
}

// verdictOf returns the verdict on the outcome of a command.
func verdictOf(ctx context.Context, err error) verdict.Verdict {
	var usage *usageError
	switch {
	case err == nil:
		return ending.Of(nil)
	case errors.As(err, &usage):
		return verdict.Verdict{Exit: verdict.ExitSpec, Reason: verdict.CommandLine, Retry: verdict.Never}
	case errors.Is(context.Cause(ctx), errTerminated):
		return ending.Terminated(err)
	}
	return ending.Of(err)
}

// errorText returns the text of an error for a person.
func errorText(code int, err error) string {
	var spent *release.Spent
	// running again changes nothing
	lasting := verdict.Has[*evaluate.Noted](err) || errors.As(err, &spent) && spent.Lost
	if (code == verdict.ExitInterrupted || code == verdict.ExitTerminated) && !lasting {
		return "interrupted; run again and it resumes"
	}
	return strings.TrimRight(verdict.InWords(err), "\n")
}

// stepOptions returns the common flags as options of the root package.
func (a *app) stepOptions() dprelease.Options {
	return dprelease.Options{
		Out: a.out, Data: a.data, Ledger: a.ledger, State: a.state, Approvals: a.approvals, OfficeKey: a.office,
		Today: a.today, Memory: int64(a.memory), Log: a.newLogger(),
	}
}

// releaseOptions returns the common flags as options of package release. It returns an error if the office key cannot
// be read.
func (a *app) releaseOptions() (release.Options, error) {
	office, err := a.officeKey()
	return release.Options{
		Out: a.out, Data: a.data, Ledger: a.ledger, State: a.state, Approvals: a.approvals, Office: office,
		Today:  a.today,
		Memory: int64(a.memory), Log: a.newLogger(),
	}, err
}

// newLogger returns a logger that writes warnings through the progress line, and every step with --verbose.
func (a *app) newLogger() *slog.Logger {
	level := slog.LevelWarn
	if a.verbose {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(a.progress, &slog.HandlerOptions{Level: level}))
}

// readEnvironment sets flags that are not given from the environment. (As defaults of the flags the values would be
// printed with the help, and an address may contain a password.)
func (a *app) readEnvironment(c *cobra.Command) {
	for _, f := range []struct {
		name, variable string
		value          *string
	}{
		{"ledger", "DPRELEASE_LEDGER", &a.ledger},
		{"state", "DPRELEASE_STATE", &a.state},
		{"office-key", "DPRELEASE_OFFICE_KEY", &a.office},
	} {
		if flag := c.Flags().Lookup(f.name); flag != nil && !flag.Changed {
			*f.value = os.Getenv(f.variable)
		}
	}
}

// specFile returns the spec at a path with the flags that concern it.
func (a *app) specFile(path string) (planfile.Spec, error) {
	s := planfile.Spec{Path: path, Params: map[string]string{}, Public: a.public, Data: a.data}
	for _, set := range a.sets {
		name, value, ok := strings.Cut(set, "=")
		if !ok || name == "" {
			return s, &usageError{fmt.Errorf("--set %q: expected --set NAME=VALUE", set)}
		}
		if _, twice := s.Params[name]; twice {
			return s, &usageError{fmt.Errorf("--set %s is given twice", name)}
		}
		s.Params[name] = value
	}
	for _, dir := range s.Public {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return s, &usageError{fmt.Errorf("--public %q: expected a folder in which public files of the spec lie",
				dir)}
		}
	}
	return s, nil
}

// pageWriter writes to standard output, with the progress line out of the way: both may be the same terminal.
type pageWriter struct{ *app }

func (p pageWriter) Write(b []byte) (int, error) {
	p.progress.end()
	return p.stdout.Write(b)
}

// page returns standard output.
func (a *app) page() io.Writer { return pageWriter{a} }

// say prints a line for a person, unless --json prints a document instead.
func (a *app) say(format string, args ...any) {
	if !a.json {
		fmt.Fprintf(visibleWriter{a.page()}, format+"\n", args...)
	}
}

func (a *app) outFlag(c *cobra.Command) {
	c.Flags().StringVarP(&a.out, "out", "o", ".", "folder to write to")
}

// specFlags adds the flags for reading a spec.
func (a *app) specFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&a.sets, "set", nil, "value of a parameter, NAME=VALUE; may be repeated")
	c.Flags().StringArrayVar(&a.public, "public", nil,
		"further folder in which public files of the spec may lie, in addition to the spec's own; may be repeated")
}

// dataFlag adds the folder of sources to a command that opens none: no source may be used as a public file.
func (a *app) dataFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.data, "data", "",
		"base folder of relative source paths (default: the spec's folder); nothing in it is opened")
}

func (a *app) ledgerFlag(c *cobra.Command, without string) {
	c.Flags().StringVar(&a.ledger, "ledger", "", "ledger: a file, or postgres://… (default $DPRELEASE_LEDGER; "+without+
		")")
}

func (a *app) stateFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.state, "state", "",
		"confidential state directory (default $DPRELEASE_STATE, else .dprelease in the output folder)")
}

// todayFlag adds the flag that confirms the date.
func (a *app) todayFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.today, "today", "",
		"today's date, YYYY-MM-DD; needed if the ledger's last entry is more than 400 days old")
}

// memoryFlag adds the limit of the memory for counting.
func (a *app) memoryFlag(c *cobra.Command) {
	c.Flags().Var(&a.memory, "memory",
		"memory that counting may use, such as 500MB or 8GiB (default: half of the machine's, or less if less is free)")
}

func (a *app) measureFlags(c *cobra.Command, dataDefault string) {
	a.ledgerFlag(c, "without one, a practice account")
	a.stateFlag(c)
	a.officeFlag(c, "the entries of a signed ledger")
	a.todayFlag(c)
	a.memoryFlag(c)
	c.Flags().StringVar(&a.approvals, "approvals", "", "folder of the plan's approvals (default: the plan's folder)")
	c.Flags().StringVar(&a.data, "data", "", "base folder of relative source paths (default: "+dataDefault+")")
}
