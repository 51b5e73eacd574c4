package testkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes an empty file and its folders.
func write(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func assertPath(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// project is a folder with a project in it, which becomes the working folder.
func project(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(top, "project", "go.mod"))
	t.Chdir(filepath.Dir(write(t, filepath.Join(top, "project", "room", "room.go"))))
	t.Setenv(Variable, "")
	return top
}

func TestFilesBesideTheProject(t *testing.T) {
	top := project(t)
	data := write(t, filepath.Join(top, "shared", "data", "a.csv"))
	vectors := write(t, filepath.Join(top, "shared", "vectors", "v.json"))
	assertPath(t, Data(t, "a.csv"), data)
	assertPath(t, Shared(t, "vectors/v.json"), vectors)
	if got, ok := Find("a.csv"); !ok || got != data {
		t.Errorf("found %s, %v", got, ok)
	}
	if _, ok := Find("b.csv"); ok {
		t.Error("found what is not there")
	}
}

func TestTheVariableNamesTheDataFolder(t *testing.T) {
	top := project(t)
	write(t, filepath.Join(top, "shared", "data", "a.csv"))
	usual := write(t, filepath.Join(top, "shared", "specs", "s.yaml"))
	data := write(t, filepath.Join(top, "elsewhere", "data", "a.csv"))
	vectors := write(t, filepath.Join(top, "elsewhere", "vectors", "v.json"))
	for _, folder := range []string{filepath.Dir(data), filepath.Dir(data) + string(filepath.Separator),
		filepath.Join("..", "elsewhere", "data")} {
		t.Setenv(Variable, folder)
		assertPath(t, Data(t, "a.csv"), data)
		assertPath(t, Shared(t, "vectors/v.json"), vectors)
		assertPath(t, Shared(t, "specs/s.yaml"), usual)
	}
	t.Setenv(Variable, filepath.Join(top, "nowhere"))
	if _, ok := Find("a.csv"); ok {
		t.Error("found data outside the folder that the variable names")
	}
}

// skipping keeps what a skipped test says.
type skipping struct {
	testing.TB
	said []any
}

func (s *skipping) Skipf(_ string, args ...any) { s.said = args }

func TestAMissingFileSkipsAndNamesThePaths(t *testing.T) {
	top := project(t)
	t.Setenv(Variable, filepath.Join(top, "elsewhere", "data"))
	s := &skipping{TB: t}
	Shared(s, "specs/s.yaml")
	looked, _ := s.said[1].([]string)
	want := filepath.Join(top, "elsewhere", "specs", "s.yaml") + "|" + filepath.Join(top, "shared", "specs", "s.yaml")
	if strings.Join(looked, "|") != want {
		t.Errorf("looked for %q, want %s", looked, want)
	}
}
