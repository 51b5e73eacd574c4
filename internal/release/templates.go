package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/spec/files"
)

const (
	// templatesFolder, in the state directory, holds a file for each template, by its key.
	templatesFolder = "templates"
	// mostTemplates is how many are kept: those that were measured last.
	mostTemplates = 32
	// mostTemplate bounds the bytes of one.
	mostTemplate = 64 << 20
)

// Load is [planfile.Load], and need not plan where a run in the same state directory has measured the spec before with
// other values of its parameters: see [Options.template].
func (o Options) Load(ctx context.Context, s planfile.Spec) (*compiled.Compiled, error) {
	var earlier *compiled.Compiled
	p, refilled, err := planfile.LoadLike(ctx, s, func(key string) *compiled.Compiled {
		earlier = o.template(ctx, s.Params, key)
		return earlier
	})
	if refilled {
		o.logger().Info("plan made from that of an earlier run", "release", p.Name, "earlier", earlier.Name)
	}
	return p, err
}

// template is a plan that this build of the program measured of the same spec with other values of its parameters, nil
// where there is none that can be used.
//
// Guarantee: the account of the configured ledger was debited for this very plan. Nothing is debited before the trusted
// core has verified the plan ([histogram.Count]), so its noise is what its spec leads to, whoever put the file into the
// state directory: it may have come there in an archive. On a practice account every plan is made anew, as its ledger
// lies in that directory too.
func (o Options) template(ctx context.Context, params map[string]string, key string) *compiled.Compiled {
	file := o.templateFile(params, key)
	if file == "" || errors.Join(durable.Private(o.StateDir()), durable.Private(filepath.Dir(file))) != nil {
		return nil
	}
	b, err := regular.Read(file, mostTemplate)
	if err != nil {
		return nil
	}
	sum, text, _ := bytes.Cut(b, []byte("\n"))
	if hash := sha256.Sum256(text); hex.EncodeToString(hash[:]) != string(sum) {
		return nil
	}
	p, err := compiled.Read(text)
	if err != nil || !o.debited(ctx, p) {
		return nil
	}
	return p
}

// debited reports whether the configured ledger holds a debit for the plan.
func (o Options) debited(ctx context.Context, p *compiled.Compiled) bool {
	var day string
	err := o.Account().With(ctx, func(l *ledger.Ledger) (err error) {
		day, err = l.Debited(ctx, ledger.Charge{Account: p.Guarantee.Account, Release: p.Name, PlanHash: p.Hash()})
		return err
	})
	return err == nil && day != ""
}

// keepTemplate keeps a plan that was measured, where its spec has parameters, for runs with other values of these.
// Where it cannot be kept they plan again, so no error is told.
func (o Options) keepTemplate(p *compiled.Compiled) {
	file := o.templateFile(p.Source.Params, template.Key(p.Release()))
	text := p.Bytes()
	if file == "" || len(text) > mostTemplate/2 {
		return
	}
	dir := filepath.Dir(file)
	if durable.MakeFolder(dir, 0o700) != nil || durable.Private(dir) != nil {
		return
	}
	hash := sha256.Sum256(text)
	if durable.ReplaceFile(dir, filepath.Base(file), slices.Concat([]byte(hex.EncodeToString(hash[:])), []byte("\n"),
		text)) == nil {
		removeOldest(dir, mostTemplates)
	}
}

// templateFile is where the template of a key is kept; "" where none is: on a practice account, where the spec has no
// parameters, and where this build cannot be told from others.
func (o Options) templateFile(params map[string]string, key string) string {
	if o.Ledger == "" || len(params) == 0 {
		return ""
	}
	build := build()
	if build == "" {
		return ""
	}
	name := sha256.Sum256([]byte(build + key))
	return filepath.Join(o.StateDir(), templatesFolder, hex.EncodeToString(name[:])+".json")
}

// build is the SHA-256 of the program that runs, "" where it cannot be read: another build may plan otherwise.
var build = sync.OnceValue(func() string {
	h := sha256.New()
	if info, ok := debug.ReadBuildInfo(); ok && released(info) {
		h.Write([]byte(info.String()))
		return hex.EncodeToString(h.Sum(nil))
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if _, err := f.WriteTo(h); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
})

// released reports whether what is known of a build says from which source it was made: a module with its checksum, or
// a commit without changes, and dependencies with theirs.
func released(info *debug.BuildInfo) bool {
	for _, d := range info.Deps {
		if d.Sum == "" || d.Replace != nil {
			return false
		}
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return info.Main.Sum != "" || settings["vcs.revision"] != "" && settings["vcs.modified"] == "false"
}

// removeOldest removes the templates that were written first, until no more than most are left.
func removeOldest(dir string, most int) {
	all, err := files.Glob(dir, "*.json")
	if err != nil || len(all) <= most {
		return
	}
	written := map[string]time.Time{}
	for _, file := range all {
		if info, err := os.Stat(file); err == nil {
			written[file] = info.ModTime()
		}
	}
	slices.SortFunc(all, func(a, b string) int { return written[a].Compare(written[b]) })
	for _, file := range all[:len(all)-most] {
		os.Remove(file)
	}
}
