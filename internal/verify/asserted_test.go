package verify

import (
	"errors"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/verdict"
)

// assertVerifies asserts that a folder verifies, and returns the verification.
func assertVerifies(t *testing.T, place string, o Options) *Verification {
	t.Helper()
	v, err := Folder(t.Context(), place, o)
	if err != nil {
		t.Fatalf("%v\n%+v", err, v)
	}
	return v
}

// assertRefused asserts that a folder does not verify and that the named file is reported first.
func assertRefused(t *testing.T, place string, o Options, file, says string) {
	t.Helper()
	_, err := Folder(t.Context(), place, o)
	var u *Unverified
	if !errors.As(err, &u) || ending.Of(err).Exit != verdict.ExitVerify {
		t.Fatalf("%v, want %s refused", err, file)
	}
	if u.File != file || !strings.Contains(u.Says, says) {
		t.Errorf("%v, want %s named, and %q", err, file, says)
	}
}

// assertListed asserts that an item of a list says something.
func assertListed(t *testing.T, list []string, says string) {
	t.Helper()
	if !strings.Contains(strings.Join(list, "\n"), says) {
		t.Errorf("nothing says %q: %q", says, list)
	}
}
