//go:build unix

package regular

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A pipe that takes the place of a file between the look at it and its opening is neither waited for nor read.
func TestPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	path, pipe := filepath.Join(dir, "f"), filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	atMost(t, 10*time.Second, func() {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_CREATE} {
			if f, err := openAtOnce(pipe, flag, 0o600); !errors.Is(err, ErrNotRegular) {
				t.Errorf("a pipe, opened with %x: %v, %v", flag, f, err)
			}
		}
	})
	var ended atomic.Bool
	defer ended.Store(true)
	go func() { // file, pipe, file, …
		for !ended.Load() {
			_ = os.WriteFile(filepath.Join(dir, "new"), []byte("abcd"), 0o600)
			_ = os.Rename(filepath.Join(dir, "new"), path)
			_ = os.Link(pipe, filepath.Join(dir, "other"))
			_ = os.Rename(filepath.Join(dir, "other"), path)
		}
	}()
	atMost(t, 30*time.Second, func() {
		for range 5000 {
			if b, err := Read(path, 4); err == nil && string(b) != "abcd" {
				t.Errorf("read %q", b)
			} else if err != nil && !errors.Is(err, ErrNotRegular) && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		}
	})
}

func atMost(t *testing.T, d time.Duration, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatal("it waits for a pipe")
	}
}

func TestLinksAreNotFollowedWhereNoneMayBe(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, []byte("abcd"), 0o600), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenUnlinked(link); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a link: %v", err)
	}
	f, err := OpenUnlinked(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := ReadAll(f, 4); err != nil || string(b) != "abcd" {
		t.Errorf("%q, %v", b, err)
	}
}
