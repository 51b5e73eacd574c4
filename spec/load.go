package spec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/shape"
	"gopkg.in/yaml.v3"
)

// This file holds the entry points: Load reads a file, Parse a source in memory.

// mostSpec bounds the bytes of a spec.
const mostSpec = 8 << 20

// Options says how a spec on disk is read.
type Options struct {
	// Params are the values of its parameters.
	Params map[string]string
	// Public are folders, in addition to the spec's own, that may contain its public files.
	Public []string
	// Data is the folder that relative paths of sources start from, "" for the spec's own. No source is opened.
	Data string
	// Unpack reads public tables other than plain CSV files. If it is nil they are refused.
	Unpack files.Unpack
}

// Load reads the spec at path, its code books and its public tables, whose paths are relative to the spec's folder. It
// returns their problems as *Errors, including a public file that is a confidential source, is not in a public folder,
// or contains a private key. For a well-formed spec that uses parts of the language which this version does not build,
// it returns both a Release and *Errors whose Unbuilt is true.
func Load(ctx context.Context, path string, o Options) (*Release, error) {
	text, err := files.Read(ctx, path, mostSpec)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("the spec cannot be read: %s", files.Explain(err))
	}
	folder := filepath.Dir(path)
	r, err := readSource(Source{Name: filepath.Base(path), Text: string(text), Params: maps.Clone(o.Params)},
		files.OnDisk(ctx, folder, o.Public, cmp.Or(o.Data, folder), o.Unpack))
	return r, cmp.Or(ctx.Err(), err)
}

// ReadAgain reads the release again from its source, which nobody else holds then. It has the same words, and problems
// have their positions in the same text; everything else is what the source says.
func (r *Release) ReadAgain() (*Release, error) {
	out, err := Parse(r.Source)
	if err != nil {
		return nil, err
	}
	if out, err = out.WithWords(r.Words); err != nil {
		return nil, err
	}
	out.written = r.written
	return out, nil
}

// Parse reads a release from memory only, with the same results as Load.
func Parse(src Source) (*Release, error) {
	src.Params = maps.Clone(src.Params)
	return readSource(src, files.InMemory(src.Files, src.Digests))
}

// readSource reads a release with the public files that open gives. The release's Source holds the files that were
// used.
func readSource(src Source, open files.Opener) (*Release, error) {
	src.Name = cmp.Or(src.Name, "release.yaml")
	if len(src.Params) == 0 {
		src.Params = nil // as it is when read back from JSON
	}
	r := newReader(document.NewFindings(src.Name, src.Text), open)
	root, ok := readTree(r.Findings)
	if ok {
		shape.Check(r.Findings, grammar(), root, &unfilled)
		r.SpreadMarks(root.Value)
		if root.Value.Kind == yaml.MappingNode {
			r.readRelease(root, src.Params)
		}
	}
	r.release.written = src.Text
	var withWords map[string][]files.Digest
	src.Files, src.Digests, withWords = r.files.KeptTexts()
	r.release.Source = src
	if ok {
		r.release.Source.Text = canonicalText(root.Value)
		r.takeWords(root, withWords)
	}
	r.release.Unbuilt, r.release.Warnings = r.Unbuilt(), r.Warnings()
	failure := &document.Errors{Problems: r.Problems()}
	switch {
	case len(failure.Problems) == 0:
		return r.release, nil
	case failure.Unbuilt():
		return r.release, failure
	}
	return nil, failure
}

// Problem returns, as *Errors with line and caret, a problem with the value at a path of keys such as
// marginals.ages.target. If the spec has no value at that path, the problem is positioned at the longest part of the
// path that exists.
func (r *Release) Problem(path string, p document.Problem) error {
	f := document.NewFindings(r.Source.Name, r.written)
	root, _ := readTree(f)
	return f.ProblemAt(root, path, p)
}

// readTree reads the YAML of a spec, and refuses a plan.
func readTree(f *document.Findings) (document.Node, bool) {
	root, ok := f.Read("a release, which starts with version: 1", "one release a file, without --- between")
	if format := root.Get("format"); ok && format.Present() && strings.HasPrefix(format.Text(), "dprelease.plan/") {
		f.ReportAt(1, 1, "", document.Problem{Message: "a plan, and not a spec",
			Expected: "the spec that the plan was made from; `dprelease run` takes a spec, `dprelease measure` a plan"})
		return document.Node{}, false
	}
	return root, ok
}

// unfilled is the problem of ${…} where no parameters are filled in.
var unfilled = document.Problem{
	Message: "parameters are not filled in here",
	Expected: "${…} only in release, about and the paths of files: a standing approval signs a plan with its " +
		"parameters blank, and what is counted is part of what it signs",
}

// readRelease reads the whole document. It skips parts that already have a problem, so that each mistake is reported
// once.
func (r *reader) readRelease(root document.Node, params map[string]string) {
	r.checkComposed(root)
	r.params = r.Parameters(root, params)
	r.domains = domain.NewReader(r.Findings, r.files, r.params)
	r.release.Name = r.readName(root.Get("release"))
	r.readCorrects(root.Get("corrects"))
	r.readAbout(root.Get("about"))
	r.readFit(root.Get("fit"))
	r.readPrivacy(root.Get("privacy"))
	r.readBudget(root)
	r.readCollection(root)
	r.readTables(root)
	r.readHolders(root)
	r.readImpossible(root)
	r.readInvariants(root)
	r.checkJoins()
	r.files.KeepTables()
	r.readMarginals(root)
	r.readSynthetic(root)
	r.readModels(root)
	r.release.Consistent = slices.Contains(root.Get("publish").Get("integers").Texts(), consistent)
	r.checkSample(root)
	r.checkNeeded(root)
	r.checkLeavesUsed(root)
	r.checkLevelsPaid(root)
	r.checkTotal(root)
}
