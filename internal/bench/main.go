// Command bench compares the speed of counting with DuckDB and Polars on one made-up table, and how well models predict
// with other libraries on public data sets.
//
//	go run ./internal/bench                      # 10 million rows, all cases but csv and model, some minutes
//	go run ./internal/bench -rows 1000000 -cases pairs,bounded
//	go run ./internal/bench -cases csv -json
//	go run ./internal/bench -cases model -runs 1 # a whole run of the command that fits a model to the table
//	go run ./internal/bench -shards 10           # the table in ten shards, one after the other
//	go run ./internal/bench -models adult -runs 20
//	go run ./internal/bench -census
//
// It makes the table once (table.go), then runs each case (cases.go) in child processes in turn, so that no contender
// profits from the memory of another: this program from the text of a spec to exact counts (count.go), and each peer
// that python3 can import in its best forms (peers/). A missing peer is "not measured", which meets no bar. All counts
// are compared with counts of the rows as they were made, before any file or reader (reference.go); if any differ the
// exit code is 1.
//
// Models (models.go) are fitted to random splits of public data, by releases of this program and by each peer that
// python3 can import, and judged by the rows that they were not fitted to.
//
// The errors of a census (census.go) follow from its budget and the shape of its areas: nothing is drawn.
//
// It never sees confidential data: what it counts is made up, and what models are fitted to is public.
// docs/benchmarks.md has the output of a run and says how to read it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// options are the flags of the command line.
type options struct {
	rows    int
	cases   string
	peers   string
	dir     string
	runs    int
	threads int
	memory  int64
	limit   time.Duration
	json    bool
	child   string
	shards  int
	models  string
	census  bool
}

// errDisagree ends a run in which a contender counted something else than was made.
var errDisagree = errors.New("counts disagree: see the table")

// run executes one command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rows, "rows", 10_000_000, "rows of the table")
	f.StringVar(&o.cases, "cases", defaultCases(), "cases to run, of "+strings.Join(caseNames(), ","))
	f.StringVar(&o.peers, "peers", "duckdb,polars", "peers to run for comparison, where python3 can import them")
	f.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "dprelease-bench"), "folder in which tables are kept")
	f.IntVar(&o.runs, "runs", 5, "runs of each, of which the median counts")
	f.IntVar(&o.threads, "threads", 2, "threads of each")
	f.Int64Var(&o.memory, "memory", 0, "bytes that we may take; 0: what the machine has free")
	f.DurationVar(&o.limit, "limit", 30*time.Second,
		"a peer that counts for longer is stopped, its time estimated from the tables it has done, and run once")
	f.BoolVar(&o.json, "json", false, "print one JSON document")
	f.IntVar(&o.shards, "shards", 0, "count the table in so many shards, one after the other, instead of the cases")
	f.StringVar(&o.models, "models", "",
		"compare models on these data sets, of adult,taxi, on as many splits as -runs says, instead of the cases")
	f.BoolVar(&o.census, "census", false,
		"print the errors of a census by level, with the published budget of a national one, instead of the cases")
	f.StringVar(&o.child, "child", "", "do one job, given as JSON (used by the command itself)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.child != "" {
		return runChild(ctx, o.child, stdout)
	}
	if f.NArg() > 0 || o.rows < 1 || o.runs < 1 || o.threads < 1 {
		return fmt.Errorf("expected flags alone, and at least one row, run and thread (see -help)")
	}
	cases, err := casesOf(o.cases)
	if err != nil {
		return err
	}
	b := &bench{options: o, progress: stderr}
	if o.shards > 0 {
		return b.runShards(ctx, stdout)
	}
	if o.models != "" {
		return b.runModels(ctx, stdout)
	}
	if o.census {
		return runCensus(ctx, stdout)
	}
	doc, err := b.run(ctx, cases)
	if err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(doc)
	} else {
		err = doc.write(stdout)
	}
	if err == nil && !doc.Agree {
		err = errDisagree
	}
	return err
}
