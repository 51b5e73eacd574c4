//go:build unix

package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"
)

// This file holds the tests of what runs releases by itself: examples/schedule, and the Containerfile.

var schedule = filepath.Join("..", "..", "examples", "schedule")

// scheduled returns a file of examples/schedule, with the folders of a server moved below a place.
func scheduled(t *testing.T, name, place string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(schedule, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("/var/lib/dprelease", place, "/etc/dprelease", place, "/srv/confidential", place,
		"/srv/releases", place, "/usr/local/bin", place).Replace(string(text))
}

// standIn writes a program to a folder that notes its arguments, prints a document and ends with a code, and puts the
// script for a quarter beside it. It returns the folder, which comes first in PATH.
func standIn(t *testing.T, code int, document string) string {
	t.Helper()
	dir := t.TempDir()
	program := fmt.Sprintf("#!/bin/sh\necho \"$*\" >> %s/asked\necho '%s'\nexit %d\n", dir, document, code)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "dprelease"), []byte(program), 0o755),
		os.WriteFile(filepath.Join(dir, "release-quarter"), []byte(scheduled(t, "release-quarter", dir)),
			0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}

// asked returns the arguments that a stand-in was run with.
func asked(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// needs skips a test on a machine without a program.
func needs(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("no %s here", program)
	}
	return path
}

// exitCode runs a command and returns its exit code and what it prints.
func exitCode(t *testing.T, command *exec.Cmd) (int, string) {
	t.Helper()
	out, err := command.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

// endings are what the program says, and what a job makes of it.
var endings = []struct {
	document string
	code     int
	script   int // the exit code of release-quarter
	again    bool
}{
	{`{"retry": "safe"}`, 0, 0, false}, {`{"retry": "later"}`, 4, 75, true}, {`{"retry": "never"}`, 4, 4, false},
	{`{"retry": "later"}`, 3, 75, true}, {`{"retry": "safe"}`, 1, 1, true},
}

func TestReleaseQuarter(t *testing.T) {
	needs(t, "sh")
	for _, c := range endings {
		dir := standIn(t, c.code, c.document)
		code, out := exitCode(t, exec.Command(filepath.Join(dir, "release-quarter"), "2026q3"))
		if code != c.script || strings.TrimSpace(out) != c.document {
			t.Errorf("of %s with %d: exit code %d, %s", c.document, c.code, code, out)
		}
		if got := asked(t, dir); !strings.Contains(got, "--set quarter=2026q3 ") || !strings.Contains(got, "--json") {
			t.Errorf("it ran dprelease %s", got)
		}
	}
	dir := standIn(t, 0, "{}")
	if code, out := exitCode(t, exec.Command(filepath.Join(dir, "release-quarter"))); code != 0 ||
		!regexp.MustCompile(`--set quarter=20[0-9]{2}q[1-4] `).MatchString(asked(t, dir)) {
		t.Errorf("without a quarter: exit code %d, %s; it ran dprelease %s", code, out, asked(t, dir))
	}
}

// TestUnitFiles has systemd judge the unit files, where it is there.
func TestUnitFiles(t *testing.T) {
	dir := t.TempDir()
	verify := []string{"verify", "--man=no"}
	for _, name := range []string{"labour.service", "labour.timer", "labour-failed.service"} {
		text, err := os.ReadFile(filepath.Join(schedule, name))
		if err != nil {
			t.Fatal(err)
		}
		unit := strings.ReplaceAll(string(text), "/usr/local/bin/release-quarter", "/bin/true")
		verify = append(verify, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(unit), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := exec.Command(needs(t, "systemd-analyze"), verify...).CombinedOutput()
	for _, line := range strings.Split(string(out), "\n") { // units of the machine may have faults of their own
		if strings.Contains(line, "labour") {
			t.Error(line)
		}
	}
}

// TestCron runs the line of the table as cron does: it prints what failed, and nothing else.
func TestCron(t *testing.T) {
	needs(t, "sh")
	line := regexp.MustCompile(`(?m)^(?:[0-9*,-]+ ){5}dprelease (.*)$`)
	for _, c := range endings {
		dir := standIn(t, c.code, c.document)
		found := line.FindStringSubmatch(scheduled(t, "labour.cron", dir))
		if found == nil {
			t.Fatal("the table has no line for the job")
		}
		code, out := exitCode(t, exec.Command("sh", "-c", found[1]))
		if code != c.script || (out != "") != (code != 0) {
			t.Errorf("of %s with %d: exit code %d, %q", c.document, c.code, code, out)
		}
	}
}

// TestGitHubActions runs the step of the workflow: what comes with time is no failure, and no document is printed.
func TestGitHubActions(t *testing.T) {
	needs(t, "sh")
	for _, c := range endings {
		dir := standIn(t, c.code, c.document)
		var workflow struct {
			On struct {
				Schedule []struct{ Cron string }
			}
			Permissions map[string]string
			Jobs        map[string]struct {
				RunsOn []string `yaml:"runs-on"`
				Steps  []struct{ Run string }
			}
		}
		if err := yaml.Unmarshal([]byte(scheduled(t, "github-actions.yml", dir)), &workflow); err != nil {
			t.Fatal(err)
		}
		job := workflow.Jobs["release"]
		if len(workflow.On.Schedule) != 1 || len(workflow.Permissions) > 0 ||
			!slices.Contains(job.RunsOn, "self-hosted") ||
			len(job.Steps) != 1 {
			t.Fatalf("the workflow is read as %+v", workflow)
		}
		step := exec.Command("sh", "-e", "-c", job.Steps[0].Run)
		step.Env = append(os.Environ(), "QUARTER=2026q3")
		code, out := exitCode(t, step)
		if want := map[int]int{0: 0, 75: 0}; code != want[c.script] && c.script != code ||
			strings.Contains(out, "retry") {
			t.Errorf("of %s with %d: exit code %d, %q", c.document, c.code, code, out)
		}
	}
}

// airflow stands for the packages of Airflow that a DAG imports, and runs its task for the first quarter of 2026.
const airflow = `
import sys, types
from datetime import datetime, timezone

class AirflowException(Exception): pass
class AirflowFailException(AirflowException): pass

def dag(**settings):
    assert settings["schedule"].split()[0] == "0" and settings["catchup"] is False and settings["max_active_runs"] == 1
    return lambda f: f

def task(f):
    return lambda: f(data_interval_start=datetime(2026, 1, 20, 6, tzinfo=timezone.utc))

for name, members in {"airflow": {}, "airflow.decorators": {"dag": dag, "task": task},
                      "airflow.exceptions": {"AirflowException": AirflowException, "AirflowFailException": AirflowFailException}}.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)

try:
    exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), {"__name__": "labour"})
except AirflowFailException as e:
    print("fails:", e)
except AirflowException as e:
    print("again:", e)
else:
    print("done")
`

// TestAirflow runs the DAG's task in stand-ins for Airflow's packages.
func TestAirflow(t *testing.T) {
	python := needs(t, "python3")
	for _, c := range endings {
		dir := standIn(t, c.code, c.document)
		script := filepath.Join(dir, "stand_in.py")
		if err := os.WriteFile(script, []byte(airflow), 0o644); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "again:", false: "fails:"}[c.again]
		if c.script == 0 {
			want = "done"
		}
		code, out := exitCode(t, exec.Command(python, script, filepath.Join(schedule, "labour_airflow.py")))
		if code != 0 || !strings.HasPrefix(out, want) || !strings.Contains(asked(t, dir), "quarter=2026q1") {
			t.Errorf("of %s with %d: %s; it ran dprelease %s", c.document, c.code, out, asked(t, dir))
		}
	}
}

// TestContainerfile builds the program as the Containerfile does, and runs it as it would be in the image: alone in a
// folder, for its user, with an empty environment.
func TestContainerfile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the image is for linux")
	}
	if !strings.Contains(os.Getenv("GOFLAGS"), "-trimpath") && os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("compiles the program anew where GOFLAGS has no -trimpath: set DPRELEASE_LONG to run it")
	}
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	build := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*)-o /dprelease (\S+)$`).FindStringSubmatch(
		string(text))
	user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(string(text))
	version := regexp.MustCompile(`(?m)^FROM \S+/golang:(\S+) AS build$`).FindStringSubmatch(string(text))
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if build == nil || user == nil || version == nil || !strings.Contains(string(text), "\nFROM scratch\n") ||
		!strings.Contains(string(mod), "\ngo "+version[1]) {
		t.Fatalf("the file is\n%s", text)
	}
	image := t.TempDir()
	program := filepath.Join(image, "dprelease")
	make := exec.Command("sh", "-c", build[1]+"-o "+program+" "+build[2])
	make.Dir = root
	if code, out := exitCode(t, make); code != 0 {
		t.Fatalf("%s\n%s", build[0], out)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 || file.Section(".interp") != nil {
		t.Errorf("it needs libraries: %v, %v", libraries, err)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can run it as the image would")
	}
	if err := errors.Join(os.CopyFS(filepath.Join(image, "example"),
		os.DirFS(filepath.Join(root, "examples", "quickstart"))),
		os.Mkdir(filepath.Join(image, "out"), 0o777), os.Chmod(filepath.Join(image, "out"), 0o777),
		os.Chmod(image, 0o755)); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("/dprelease", "run", "/example/release.yaml", "-o", "/out", "--state", "/out/state")
	run.Dir, run.Env = "/out", []string{}
	run.SysProcAttr = &syscall.SysProcAttr{Chroot: image, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	if code, out := exitCode(t, run); code != 0 || !strings.Contains(out, "report.html") {
		t.Errorf("in its image: exit code %d\n%s", code, out)
	}
	if user[1] != "65532" || user[2] != "65532" {
		t.Errorf("it runs as %s", user[0])
	}
}
