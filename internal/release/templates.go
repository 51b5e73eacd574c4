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
	// templatesFolder, in the state directory, has a file for each template, named by its key.
	templatesFolder = "templates"
	// mostTemplates is how many templates are kept: those that were measured last.
	mostTemplates = 32
	// mostTemplate is the greatest size of a template, in bytes.
	mostTemplate = 64 << 20
)

// Load is [planfile.Load]. It need not plan if a run in the same state directory has measured the spec with other
// values of its parameters: see [Options.earlierPlan].
func (o Options) Load(ctx context.Context, s planfile.Spec) (*compiled.Compiled, error) {
	var earlier *compiled.Compiled
	p, refilled, err := planfile.LoadReusing(ctx, s, func(key string) *compiled.Compiled {
		earlier = o.earlierPlan(ctx, s.Params, key)
		return earlier
	})
	if refilled {
		o.logger().Info("plan made from the plan of an earlier run", "release", p.Name, "earlier", earlier.Name)
	}
	return p, err
}

// earlierPlan returns a plan that this build of the program measured from the same spec with other values of its
// parameters, nil if there is none that can be used.
//
// Guarantee: the account of the configured ledger was debited for exactly this plan. Nothing is debited before the
// trusted core has verified the plan ([histogram.Count]), so its noise is what its spec leads to, whoever put the file
// into the state directory: it may have come there in an archive. On a practice account every plan is made anew,
// because its ledger is in that directory too.
func (o Options) earlierPlan(ctx context.Context, params map[string]string, key string) *compiled.Compiled {
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
	if err != nil || !o.isDebited(ctx, p) {
		return nil
	}
	return p
}

// isDebited reports whether the configured ledger holds a debit for the plan.
func (o Options) isDebited(ctx context.Context, p *compiled.Compiled) bool {
	var day string
	err := o.Account().With(ctx, func(l *ledger.Ledger) (err error) {
		day, err = l.Debited(ctx, ledger.Charge{Account: p.Guarantee.Account, Release: p.Name, PlanHash: p.Hash()})
		return err
	})
	return err == nil && day != ""
}

// keepTemplate stores a plan that was measured, if its spec has parameters, for runs with other values of them. It
// reports no error: without the file those runs plan again.
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

// templateFile returns the file for the template of a key. It returns "" on a practice account, for a spec without
// parameters, and if this build cannot be distinguished from others.
func (o Options) templateFile(params map[string]string, key string) string {
	if o.Ledger == "" || len(params) == 0 {
		return ""
	}
	program := programHash()
	if program == "" {
		return ""
	}
	name := sha256.Sum256([]byte(program + key))
	return filepath.Join(o.StateDir(), templatesFolder, hex.EncodeToString(name[:])+".json")
}

// programHash returns a hash that identifies the running program, "" if there is none: another build may plan
// differently.
var programHash = sync.OnceValue(func() string {
	h := sha256.New()
	if info, ok := debug.ReadBuildInfo(); ok && isReproducible(info) {
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

// isReproducible reports whether a build's information determines its source: a module with its checksum, or a commit
// without changes; and every dependency with its checksum.
func isReproducible(info *debug.BuildInfo) bool {
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

// removeOldest removes the oldest templates until at most most are left.
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
