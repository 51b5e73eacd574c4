package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// This file holds every refusal of the scripts word for word: testdata/refusals.txt has, by script, each command that
// does not succeed, its exit code, and all that it prints. The scripts themselves look for a word or two of it.

// refusalsFile is a txtar archive of a file for each script.
var refusalsFile = filepath.Join("testdata", "refusals.txt")

// recordIn is the variable that names the file in which a command of a script records its refusal.
const recordIn = "RECORD_IN"

// runAndRecord runs a command line and, if asked to, records what it prints when it fails.
func runAndRecord(args []string) int {
	file := os.Getenv(recordIn)
	if file == "" {
		return runCommandLine(args, os.Stdout, os.Stderr)
	}
	var stdout, stderr bytes.Buffer
	code := runCommandLine(args, io.MultiWriter(os.Stdout, &stdout), io.MultiWriter(os.Stderr, &stderr))
	if code == 0 {
		return 0
	}
	text := fmt.Sprintf("$ dprelease %s\nexit %d\n%s%s\n", strings.Join(args, " "), code, stdout.String(),
		stderr.String())
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil {
		panic(err)
	}
	f.Close()
	return code
}

// refusals are what the commands of scripts printed that did not succeed.
type refusals struct {
	sync.Mutex
	folder string
	work   map[string]string // the folder that each script ran in
}

// newRefusals compares the refusals of the scripts that ran with those that are listed, when all have ended.
func newRefusals(t *testing.T) *refusals {
	r := &refusals{folder: t.TempDir(), work: map[string]string{}}
	t.Cleanup(func() { r.compare(t) })
	return r
}

// of has a script record its refusals, unless it needs Spark: those are listed nowhere, as it is skipped elsewhere.
func (r *refusals) of(e *testscript.Env) {
	name := filepath.Base(e.WorkDir)
	if name == "script-sparkrun" {
		return
	}
	r.Lock()
	defer r.Unlock()
	r.work[name] = e.WorkDir
	e.Setenv(recordIn, filepath.Join(r.folder, name))
}

// What differs from run to run.
var (
	digits  = regexp.MustCompile(`([0-9a-f]{4} ){7}[0-9a-f]{4}|[0-9a-f]{12,}`)
	seconds = regexp.MustCompile(`"seconds": [0-9.e-]+`)
	clock   = regexp.MustCompile(`time=\S+`)
	memory  = regexp.MustCompile(`of memory and [0-9]{9,} are`) // those of this machine, where no --memory says how many
)

// said is what a script's commands printed, but for folders, days, times and keys of this run.
func (r *refusals) said(t *testing.T, name, root string) string {
	b, err := os.ReadFile(filepath.Join(r.folder, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	text := strings.NewReplacer(r.work[name], "$WORK", root, "$ROOT", time.Now().UTC().Format(time.DateOnly), "TODAY").
		Replace(string(b))
	text = memory.ReplaceAllString(text, "of memory and MEMORY are")
	text = seconds.ReplaceAllString(digits.ReplaceAllString(text, "HEX"), `"seconds": 0`)
	return clock.ReplaceAllString(text, "time=NOW")
}

func (r *refusals) compare(t *testing.T) {
	if t.Failed() || runtime.GOOS != "linux" {
		return // what the system says differs elsewhere
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	archive := &txtar.Archive{}
	for name := range r.work {
		if text := r.said(t, name, root); text != "" {
			archive.Files = append(archive.Files,
				txtar.File{Name: strings.TrimPrefix(name, "script-"), Data: []byte(text)})
		}
	}
	slices.SortFunc(archive.Files, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })
	if *updatePage {
		if err := os.WriteFile(refusalsFile, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	listed, err := txtar.ParseFile(refusalsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		i := slices.IndexFunc(listed.Files, func(l txtar.File) bool { return l.Name == f.Name })
		if i < 0 {
			t.Errorf("%s has refusals, and none are listed", f.Name)
		} else if diff := cmp.Diff(string(listed.Files[i].Data), string(f.Data)); diff != "" {
			t.Errorf("%s (-listed +is):\n%s", f.Name, diff)
		}
	}
}
