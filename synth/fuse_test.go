package synth

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestNothingFusesOnArm64 compiles the package for arm64, where the compiler may
// join a product and a sum into one instruction with one rounding, and fails if
// it did so anywhere: a run that resumes on another machine would then ask other
// questions, and microdata published there would differ.
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

// TestMathIsTheSameEverywhere forbids functions of package math whose bits differ
// between machines.
func TestMathIsTheSameEverywhere(t *testing.T) {
	same := map[string]bool{"Abs": true, "Floor": true, "Sqrt": true, "Max": true, "Min": true, "NaN": true, "IsInf": true, "MaxInt32": true}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	used := regexp.MustCompile(`\bmath\.(\w+)`)
	found := 0
	for _, f := range files {
		if ext := regexp.MustCompile(`(_test)?\.go$`).FindString(f.Name()); ext != ".go" {
			continue
		}
		source, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range used.FindAllSubmatch(source, -1) {
			found++
			if !same[string(hit[1])] {
				t.Errorf("%s uses math.%s, which is not the same on every machine", f.Name(), hit[1])
			}
		}
	}
	if found == 0 {
		t.Error("no use of package math was found")
	}
}
