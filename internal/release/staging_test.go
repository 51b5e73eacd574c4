package release

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/compiled"
)

// remanifest puts files into a published folder, and lists what it holds then in a manifest of its own, unsigned.
func remanifest(t *testing.T, dir string, p *compiled.Compiled, record ledger.Record, m published.Manifest, more ...paper) {
	t.Helper()
	for _, f := range more {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{published.ManifestFile, published.SignatureFile} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := published.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := newStaging(dir)
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		s.lines = append(s.lines, lineOf(name, b))
	}
	if err := errors.Join(writeManifest(s, p, record, m), s.settle()); err != nil {
		t.Fatal(err)
	}
}

// TestAFileThatCannotBeWrittenIsNoRelease writes a file where a folder is: nothing may come into place.
func TestAFileThatCannotBeWrittenIsNoRelease(t *testing.T) {
	out := t.TempDir()
	s, err := stage(out, "release")
	if err != nil {
		t.Fatal(err)
	}
	defer s.discard()
	if err := os.Mkdir(filepath.Join(s.dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.write("taken", []byte("text")), s.write("other", []byte("text"))); err != nil {
		t.Fatal(err)
	}
	if err := s.write("other", []byte("another")); err == nil {
		t.Error("a file is written twice")
	}
	if err := s.commit(); err == nil {
		t.Error("committed without a file")
	}
	if there, err := durable.Exists(s.place); err != nil || there {
		t.Errorf("the release is there: %v, %v", there, err)
	}
}
