package structure

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// figuredPackages returns the folders of the packages that compute the figures of plans and of published folders.
func figuredPackages(t *testing.T) []string {
	t.Helper()
	none := map[string]string{ // and why
		"plan/internal/plantest":  "test support",
		"report/internal/shading": "colours of a page",
		"report/internal/words":   "texts alone",
	}
	all, err := exec.Command("go", "list", "./budget", "./budget/local", "./plan/...", "./synth/...",
		"./report/...").Output()
	if err != nil {
		t.Fatal("the go command lists no packages: ", err)
	}
	var of []string
	for _, path := range strings.Fields(string(all)) {
		path = strings.TrimPrefix(path, "github.com/dprelease/dprelease/")
		if none[path] == "" {
			of = append(of, path)
		}
	}
	return of
}

// TestNothingFusesOnArm64 builds the program and the benchmarks for windows on arm64, where the compiler may join a product and a sum into
// one instruction with one rounding, and fails if it did so in these packages: plans, reports and microdata would then
// differ between architectures, and a run that resumes on another machine would ask other questions. Other modules are
// not optimised, as only whether they build matters; but for gonum, whose functions can become part of ours.
func TestNothingFusesOnArm64(t *testing.T) {
	atRoot(t)
	arguments := []string{"build", "-o", os.DevNull, "-gcflags=all=-N -l",
		"-gcflags=github.com/dprelease/dprelease/...=", "-gcflags=gonum.org/...="}
	for _, path := range figuredPackages(t) {
		arguments = append(arguments, "-gcflags=github.com/dprelease/dprelease/"+path+"=-S")
	}
	build := exec.Command("go", append(arguments, "./cmd/dprelease", "./internal/bench")...)
	build.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=windows", "CGO_ENABLED=0")
	listing, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("windows/arm64: %v\n%s", err, listing)
	}
	for _, path := range figuredPackages(t) {
		if !bytes.Contains(listing, []byte("# github.com/dprelease/dprelease/"+path+"\n")) {
			t.Errorf("neither the program nor the benchmarks import %s: its arithmetic was not looked at", path)
		}
	}
	for _, path := range []string{"budget", "plan/ranges", "plan/residual", "synth", "synth/graphical"} {
		if !regexp.MustCompile(`/` + path + `/\w+\.go:\d+\)\s+FMULD\b`).Match(listing) {
			t.Errorf("the listing shows no floating-point product of package %s", path)
		}
	}
	fused := regexp.MustCompile(`\(([^()]*\.go:\d+)\)\s+(FN?M(?:ADD|SUB)[DS])\b`)
	for _, hit := range fused.FindAllSubmatch(listing, -1) {
		t.Errorf("%s is compiled to %s: write the product as float64(x*y)", hit[1], hit[2])
	}
}

// TestMathIsTheSameEverywhere forbids in these packages functions of package math whose bits differ between machines.
func TestMathIsTheSameEverywhere(t *testing.T) {
	atRoot(t)
	same := map[string]bool{}
	for _, name := range strings.Fields(`Abs Ceil Copysign Float64bits Float64frombits Floor Frexp Inf IsInf IsNaN Ldexp
		Max Min NaN Nextafter Round Sqrt Trunc
		Ln2 Pi Sqrt2 MaxFloat64 MaxInt32 MaxInt64 MaxUint32 MinInt64`) {
		same[name] = true
	}
	guess := "plan/planner/solve.go" // by logarithm and power of ten, and then by steps to the number that is wanted
	used := regexp.MustCompile(`\bmath\.([A-Z]\w*)`)
	found := map[string]int{}
	for _, path := range figuredPackages(t) {
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			name = filepath.ToSlash(name)
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, hit := range used.FindAllSubmatch(source, -1) {
				word := string(hit[1])
				found[path]++
				if !same[word] && !(name == guess && (word == "Log10" || word == "Pow10")) {
					t.Errorf("%s uses math.%s, which is not the same on every machine", name, word)
				}
			}
		}
	}
	for _, path := range []string{"budget", "plan/ranges", "synth", "synth/graphical"} {
		if found[path] == 0 {
			t.Errorf("no use of package math was found in %s", path)
		}
	}
}
