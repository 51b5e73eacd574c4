package regular

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("abcd"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 4); err != nil || string(b) != "abcd" {
		t.Errorf("%q, %v", b, err)
	}
	var large *TooLarge
	if _, err := Read(path, 3); !errors.As(err, &large) ||
		!strings.Contains(err.Error(), "it holds more than 3 bytes") {
		t.Errorf("a file of four bytes, of which three are read: %v", err)
	}
	for _, other := range []string{dir, os.DevNull} {
		if _, err := Read(other, 4); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", other, err)
		}
	}
	if _, err := Read(path+".not", 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

func TestSizesInWords(t *testing.T) {
	for n, want := range map[int64]string{1: "1 bytes", 1 << 14: "16 KiB", 8 << 20: "8 MiB", 1 << 30: "1 GiB",
		1<<20 + 1: "1048577 bytes"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
