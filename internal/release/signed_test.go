package release

import (
	"errors"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
)

// assertVerifies asserts that a folder verifies, and returns what was found.
func assertVerifies(t *testing.T, place string, o verify.Options) *verify.Verification {
	t.Helper()
	v, err := verify.Folder(t.Context(), place, o)
	if err != nil {
		t.Fatalf("%v\n%+v", err, v)
	}
	return v
}

// assertRefused asserts that a folder does not verify, with that file named first.
func assertRefused(t *testing.T, place string, o verify.Options, file, says string) {
	t.Helper()
	_, err := verify.Folder(t.Context(), place, o)
	var u *verify.Unverified
	if !errors.As(err, &u) || ending.Of(err).Exit != verdict.ExitVerify {
		t.Fatalf("%v, want %s refused", err, file)
	}
	if u.File != file || !strings.Contains(u.Says, says) {
		t.Errorf("%v, want %s named, and %q", err, file, says)
	}
}
