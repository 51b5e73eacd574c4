package release

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/internal/durable"
)

// TestAFileThatCannotBeWrittenIsNoRelease writes a file where a folder is: nothing may come into place.
func TestAFileThatCannotBeWrittenIsNoRelease(t *testing.T) {
	out := t.TempDir()
	s, err := stage(out, "release")
	if err != nil {
		t.Fatal(err)
	}
	defer s.discard()
	if err := os.Mkdir(filepath.Join(s.Dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Write("taken", []byte("text")), s.Write("other", []byte("text"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Write("other", []byte("another")); err == nil {
		t.Error("a file is written twice")
	}
	if err := s.commit(); err == nil {
		t.Error("committed without a file")
	}
	if there, err := durable.Exists(s.at.Target); err != nil || there {
		t.Errorf("the release is there: %v, %v", there, err)
	}
}
