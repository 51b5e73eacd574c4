// Command embed makes a release from a Go program: it plans a spec, measures, publishes and verifies.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease"
)

func main() {
	folder, err := publish(dprelease.WithProgress(context.Background(), showSteps()), os.Args[1], os.Args[2])
	if err != nil {
		reason, retry := dprelease.Why(err)
		log.Fatalf("%v\nreason: %s, retry: %s", err, reason, retry)
	}
	fmt.Println(folder)
}

// showSteps returns a function that prints each step of a release when it begins.
func showSteps() func(dprelease.Progress) {
	last := 0
	return func(p dprelease.Progress) {
		if p.Number != last {
			last = p.Number
			fmt.Fprintln(os.Stderr, p.Step)
		}
	}
}

// publish makes the release of a spec below a folder, and returns where it is.
func publish(ctx context.Context, spec, out string) (string, error) {
	r, err := dprelease.Load(ctx, spec, dprelease.Spec{})
	if err != nil {
		return "", err
	}
	log.Printf("release %s protects each %s", r.Name, r.Privacy.Protects)
	p, err := dprelease.Plan(ctx, spec, dprelease.Spec{})
	if err != nil {
		return "", err
	}
	o := dprelease.Options{Out: out, Data: filepath.Dir(spec), Ledger: os.Getenv("DPRELEASE_LEDGER")}
	measured, err := dprelease.Measure(ctx, p, o)
	if err != nil {
		return "", err
	}
	published, err := dprelease.Publish(ctx, measured.Folder, o)
	if err != nil {
		return "", err
	}
	verified, err := dprelease.Verify(ctx, published.Folder, dprelease.Evidence{})
	if err == nil {
		log.Print(verified.Says)
	}
	return published.Folder, err
}
