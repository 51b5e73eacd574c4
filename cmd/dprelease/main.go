// Command dprelease declares a release in YAML, plans it, and publishes its
// tables with error bars: differentially private and exactly accounted.
//
// This package holds flags, messages and exit codes; the work is done in
// internal/release.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/release"
)

func main() {
	var ballast []byte // part of the heap, but takes no memory, as it is never touched
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(release.Garbage)
		if os.Getenv("GOMEMLIMIT") == "" {
			ballast = make([]byte, release.Ballast)
		}
	}
	code := runCommandLine(os.Args[1:], os.Stdout, os.Stderr)
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// runCommandLine executes one command line and returns the exit code.
func runCommandLine(args []string, stdout, stderr io.Writer) (code int) {
	a := &app{stdout: stdout, stderr: stderr, progress: newProgressLine(stderr), started: time.Now()}
	defer func() {
		if r := recover(); r != nil {
			code = a.reportPanic(panicPlace())
		}
	}()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer endOnSignal(ctx, cancel)()
	root := a.rootCommand()
	a.json = slices.Contains(args, "--json") // even if an earlier flag cannot be parsed
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	stopped := a.progress.startTicking()
	c, err := root.ExecuteContextC(progress.Watch(ctx, a.progress.show))
	stopped()
	a.outcome.Command = strings.TrimPrefix(c.CommandPath(), "dprelease ")
	return a.printOutcome(ctx, err)
}

// endOnSignal cancels a context on the first SIGINT or SIGTERM, so that the command ends in order. A second signal
// ends the program at once, as it does any other: no guarantee of a release depends on an orderly end. The returned
// function stops the handling of signals.
func endOnSignal(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			if s == syscall.SIGTERM {
				cancel(errTerminated)
			} else {
				cancel(context.Canceled)
			}
		case <-ctx.Done():
		}
	}()
	return func() { signal.Stop(signals) }
}

// panicPlace returns where a panic was raised, without its value, which could be confidential.
func panicPlace() string {
	var pc [32]uintptr
	frames := runtime.CallersFrames(pc[:runtime.Callers(4, pc[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", f.Function, f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
