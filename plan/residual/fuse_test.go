package residual

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestNothingFusesOnArm64 compiles the package for arm64, where the compiler may
// join a product and a sum into one instruction with one rounding, and fails if
// it did so anywhere: figures would then differ between architectures.
func TestNothingFusesOnArm64(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in the path: ", err)
	}
	build := exec.Command(tool, "build", "-gcflags=-S", "-o", os.DevNull, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0")
	listing, err := build.CombinedOutput()
	if err != nil {
		t.Skipf("cannot compile for arm64 here: %v", err)
	}
	if !regexp.MustCompile(`\bFMULD\b`).Match(listing) {
		t.Fatal("the listing shows no floating-point product at all")
	}
	fused := regexp.MustCompile(`\(([^()]*\.go:\d+)\)\s+(FN?M(?:ADD|SUB)[DS])\b`)
	for _, hit := range fused.FindAllSubmatch(listing, -1) {
		t.Errorf("%s is compiled to %s: write the product as float64(x*y)", hit[1], hit[2])
	}
}
