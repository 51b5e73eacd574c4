package derive

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
)

var updateModules = flag.Bool("update-modules", false, "write modules.txt again")

// TestModulesAreThoseOfEverySystem compares modules.txt with the go command's list for all systems for which the
// program is built.
func TestModulesAreThoseOfEverySystem(t *testing.T) {
	if testing.Short() {
		t.Skip("lists the program's packages six times")
	}
	var lines []string
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64",
		"windows/arm64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		c := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Sum}}{{end}}{{end}}",
			"github.com/dprelease/dprelease/cmd/dprelease")
		c.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Skipf("the go command does not list the program's packages: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			if line != "\n" {
				lines = append(lines, line)
			}
		}
	}
	slices.Sort(lines)
	want := strings.Join(slices.Compact(lines), "")
	if *updateModules {
		if err := os.WriteFile("modules.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if moduleLines != want {
		t.Errorf("modules.txt is not what the program is built from: run this test with -update-modules; want\n%s",
			want)
	}
}

func TestModulesAreSortedAndWhole(t *testing.T) {
	all := Modules()
	for _, m := range all {
		if m.Path == "" || m.Version == "" || !strings.HasPrefix(m.Sum, "h1:") {
			t.Errorf("%+v", m)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b report.Module) int { return strings.Compare(a.Path, b.Path) }) ||
		len(all) < 20 {
		t.Errorf("%d modules, not in order", len(all))
	}
	if !slices.ContainsFunc(all, func(m report.Module) bool { return m.Path == "modernc.org/sqlite" }) {
		t.Error("the ledger's engine is not listed")
	}
}

func TestBillOfMaterials(t *testing.T) {
	all := []report.Module{{Path: "example.org/a", Version: "v1.2.3+incompatible", Sum: "h1:AAAA="},
		{Path: "example.org/b/v2", Version: "v2.0.0", Sum: "h1:BBBB="}}
	text, err := encodeBill("dprelease 0.1.0", all)
	if err != nil {
		t.Fatal(err)
	}
	var any map[string]any
	if err := json.Unmarshal(text, &any); err != nil || any["bomFormat"] != "CycloneDX" {
		t.Fatalf("%v: %s", err, text)
	}
	for _, want := range []string{`"pkg:golang/example.org/a@v1.2.3%2Bincompatible"`,
		`"pkg:golang/github.com/dprelease/dprelease@0.1.0"`, `"h1:BBBB="`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the bill does not hold %s:\n%s", want, text)
		}
	}
	again, err := ReadBill(text, "dprelease 0.1.0")
	if err != nil || !slices.Equal(again, all) {
		t.Errorf("%v %+v", err, again)
	}
	for _, wrong := range [][]byte{text[:len(text)-1], append(bytes.Clone(text), ' '),
		bytes.Replace(text, []byte("library"), []byte("file"), 1), []byte("{}")} {
		if _, err := ReadBill(wrong, "dprelease 0.1.0"); err == nil {
			t.Errorf("read %s", wrong)
		}
	}
	if _, err := ReadBill(text, "dprelease 0.2.0"); err == nil {
		t.Error("read as the bill of other software")
	}
}
