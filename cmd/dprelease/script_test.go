package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"dprelease": func() { os.Exit(runAndRecord(os.Args[1:])) },
	})
}

// TestScripts runs the program as a person would, error by error.
func TestScripts(t *testing.T) {
	said := newRefusals(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			root, err := filepath.Abs(filepath.Join("..", ".."))
			if err != nil {
				return err
			}
			e.Setenv("ROOT", root)
			e.Setenv("HOME", e.WorkDir)
			for _, name := range []string{"GOGC", "GOMEMLIMIT"} { // the program collects garbage as its tests do
				e.Setenv(name, os.Getenv(name))
			}
			said.of(e)
			return nil
		},
		Condition: func(condition string) (bool, error) {
			switch condition {
			case "adult":
				_, found := testkit.Find("adult.csv")
				return found, nil
			case "spark": // takes a minute: .ci/engines runs it
				return os.Getenv("DPRELEASE_SPARK") != "", nil
			}
			return false, errors.New("unknown condition " + condition)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"killed":    killed,
			"duplicate": duplicate,
			"same":      same,
			"nowhere":   nowhere,
			"mode":      mode,
			"data":      data,
			"generate":  generate,
			"parquet":   writeParquet,
			"repeat":    repeat,
			"table":     table,
			"replace":   replace,
			"holds":     holds,
			"capture":   capture,
		},
	})
}

// exits runs a command and checks its exit code: exits CODE PROGRAM ARGS…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, expected %d", code, want)
	}
}

// killed starts a command and kills it once the file that a pattern names has so many lines:
// killed PATTERN LINES PROGRAM ARGS…
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: killed PATTERN LINES PROGRAM ARGS…")
	}
	lines, err := strconv.Atoi(args[1])
	ts.Check(err)
	program, err := exec.LookPath(args[2])
	ts.Check(err)
	c := exec.Command(program, args[3:]...)
	c.Args[0], c.Dir = args[2], ts.MkAbs(".")
	ts.Check(c.Start())
	await(ts.MkAbs(args[0]), lines)
	ts.Check(c.Process.Kill())
	if err := c.Wait(); codeOf(err) != -1 {
		ts.Fatalf("%s ended before it was killed: %v", args[2], err)
	}
}

// duplicate copies an office: duplicate FROM TO
func duplicate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: duplicate FROM TO")
	}
	ts.Check(copyOffice(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// same checks that two folders have the same files, byte by byte: same FOLDER FOLDER
func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same FOLDER FOLDER")
	}
	one, err := sameFiles(ts.MkAbs(args[0]), ts.MkAbs(args[1]))
	ts.Check(err)
	other, err := sameFiles(ts.MkAbs(args[1]), ts.MkAbs(args[0]))
	ts.Check(err)
	if one == 0 || one != other {
		ts.Fatalf("%d files and %d", one, other)
	}
}

// capture sets a variable to a field of the document that --json printed: capture VARIABLE FIELD
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture VARIABLE FIELD")
	}
	var printed map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &printed))
	text, ok := printed[args[1]].(string)
	if !ok {
		ts.Fatalf("the document has no text %s", args[1])
	}
	ts.Setenv(args[0], text)
}

// nowhere checks that no file below a folder holds a text, in its name or
// content: nowhere TEXT DIR
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: nowhere TEXT DIR")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(args[0])) || bytes.Contains([]byte(path), []byte(args[0])) {
			ts.Fatalf("%s holds %q", path, args[0])
		}
		return err
	}))
}

// mode checks a file's permission bits: mode 600 FILE
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode OCTAL FILE")
	}
	matches, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(matches) == 0 {
		ts.Fatalf("no file matches %s", args[1])
	}
	for _, m := range matches {
		info, err := os.Stat(m)
		ts.Check(err)
		if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] {
			ts.Fatalf("%s has mode %s, expected %s", m, got, args[0])
		}
	}
}

// data copies a file of the real data into the script's folder: data NAME FILE
func data(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: data NAME FILE")
	}
	path, _ := testkit.Find(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}

// generate makes the data of an example, in a file or folder: generate EXAMPLE PLACE
func generate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: generate EXAMPLE PLACE")
	}
	command := exec.Command("go", "run", "./examples/"+args[0]+"/generate", ts.MkAbs(args[1]))
	command.Dir = ts.Getenv("ROOT")
	if said, err := command.CombinedOutput(); err != nil {
		ts.Fatalf("%v: %s", err, said)
	}
}

// repeat writes a CSV file with one column, in which each value is there so many times: repeat FILE COLUMN TIMES VALUE…
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args)%2 > 0 {
		ts.Fatalf("usage: repeat FILE COLUMN TIMES VALUE…")
	}
	text := args[1] + "\n"
	for i := 2; i < len(args); i += 2 {
		times, err := strconv.Atoi(args[i])
		ts.Check(err)
		text += strings.Repeat(args[i+1]+"\n", times)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// writeParquet writes a Parquet file with one column "x" and the given values:
// parquet FILE text|integer|decimal VALUES…
func writeParquet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: parquet FILE text|integer|decimal VALUES…")
	}
	path := ts.MkAbs(args[0])
	switch args[1] {
	case "text":
		type row struct{ X string }
		rows := make([]row, 0, len(args))
		for _, a := range args[2:] {
			rows = append(rows, row{a})
		}
		ts.Check(parquet.WriteFile(path, rows))
	case "integer":
		type row struct{ X int64 }
		rows := make([]row, 0, len(args))
		for _, a := range args[2:] {
			v, err := strconv.ParseInt(a, 10, 64)
			ts.Check(err)
			rows = append(rows, row{v})
		}
		ts.Check(parquet.WriteFile(path, rows))
	case "decimal":
		type row struct{ X float64 }
		rows := make([]row, 0, len(args))
		for _, a := range args[2:] {
			v, err := strconv.ParseFloat(a, 64)
			ts.Check(err)
			rows = append(rows, row{v})
		}
		ts.Check(parquet.WriteFile(path, rows))
	default:
		ts.Fatalf("unknown type %s", args[1])
	}
}

// table checks the columns and the number of rows of a Parquet file:
// table FILE ROWS COLUMNS…
func table(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: table FILE ROWS COLUMNS…")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	ts.Check(err)
	var columns []string
	for _, c := range f.Schema().Columns() {
		columns = append(columns, c[0])
	}
	if rows := strconv.FormatInt(f.NumRows(), 10); rows != args[1] || !slices.Equal(columns, args[2:]) {
		ts.Fatalf("%s has %s rows of %v", args[0], rows, columns)
	}
}

// replace changes a text in a file: replace FILE OLD NEW
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	if !bytes.Contains(b, []byte(args[1])) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, bytes.ReplaceAll(b, []byte(args[1]), []byte(args[2])), 0o644))
}

// holds checks that a file that a pattern names holds a text: holds TEXT PATTERN
func holds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: holds TEXT PATTERN")
	}
	matches, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	for _, m := range matches {
		b, err := os.ReadFile(m)
		ts.Check(err)
		if bytes.Contains(b, []byte(args[0])) {
			return
		}
	}
	ts.Fatalf("no file of %s holds %q", args[1], args[0])
}
