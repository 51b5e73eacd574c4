package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// This file checks the documents: links must lead somewhere, named tests must exist, and the page of errors must have
// the refusals of a spec that tests print, and the errors that decide exit codes, as they are printed.

// readPages returns all documents by their paths.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" || strings.Contains(path, "testdata") {
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.ToSlash(path)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if all["README.md"] == "" || all["docs/README.md"] == "" {
		t.Fatal("the documents are not where they were")
	}
	return all
}

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	spanned = regexp.MustCompile("(?s)`` .*? ``|`[^`]*`")
	linked  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	headed  = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
)

// withoutExamples returns a page without its examples.
func withoutExamples(text string) string {
	return spanned.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
}

// anchorsOf returns the anchors of a page's headings.
func anchorsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, heading := range headed.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(heading[1]) {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				b.WriteRune(r)
			case r == ' ':
				b.WriteRune('-')
			}
		}
		anchor := b.String()
		for i := 1; all[anchor]; i++ {
			anchor = b.String() + "-" + strconv.Itoa(i)
		}
		all[anchor] = true
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	atRoot(t)
	all, links := readPages(t), 0
	for page, text := range all {
		for _, link := range linked.FindAllStringSubmatch(withoutExamples(text), -1) {
			target, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			to := page
			if target != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(page), filepath.FromSlash(target)))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s leads nowhere", page, link[1])
			} else if anchor != "" && !anchorsOf(all[to])[anchor] {
				t.Errorf("%s: %s has no heading %q", page, to, anchor)
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links found", links)
	}
}

// TestEveryPageIsOnTheMap fails if docs/README.md does not link to a page.
func TestEveryPageIsOnTheMap(t *testing.T) {
	atRoot(t)
	all := readPages(t)
	for page := range all {
		name, below := strings.CutPrefix(page, "docs/")
		if !below || name == "README.md" || strings.HasPrefix(name, "proofs/") || strings.HasPrefix(name, "pictures/") {
			continue
		}
		if !strings.Contains(all["docs/README.md"], "("+name) {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
}

var testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)

// TestTestsThatAreNamedExist fails if a page names a test that does not exist.
func TestTestsThatAreNamedExist(t *testing.T) {
	atRoot(t)
	there := map[string]bool{}
	eachFile(t, []string{"."}, true, func(path string, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				there[f.Name.Name] = true
			}
		}
	})
	named := 0
	for page, text := range readPages(t) {
		for _, name := range testName.FindAllString(text, -1) {
			named++
			if !there[name] {
				t.Errorf("%s names %s, and there is no such test", page, name)
			}
		}
	}
	if named < 50 {
		t.Errorf("%d tests are named", named)
	}
}

// eachFile parses the Go files below some folders: tests, or all but tests.
func eachFile(t *testing.T, folders []string, tests bool, do func(path string, file *ast.File)) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") != tests {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil,
				parser.ParseComments|parser.SkipObjectResolution)
			if err == nil {
				do(path, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// explainedMessage is a message on the page of errors: its text with … for what varies, and its pattern.
type explainedMessage struct {
	text    string
	pattern *regexp.Regexp
	met     bool
}

var messageRow = regexp.MustCompile("(?m)^\\| (?:`` (.+?) ``|`([^`]+)`) \\| ([^|]+) \\| ([^|]+) \\|$")

// explainedIn returns the messages of the sections of docs/errors.md from one heading to another.
func explainedIn(t *testing.T, from, to string) []*explainedMessage {
	t.Helper()
	text := readPages(t)["docs/errors.md"]
	_, text, found := strings.Cut(text, "\n"+from+"\n")
	if !found {
		t.Fatalf("docs/errors.md has no heading %q", from)
	}
	if to != "" {
		text, _, found = strings.Cut(text, "\n"+to+"\n")
		if !found {
			t.Fatalf("docs/errors.md has no heading %q", to)
		}
	}
	var out []*explainedMessage
	for _, row := range messageRow.FindAllStringSubmatch(text, -1) {
		e := &explainedMessage{text: row[1] + row[2]}
		var parts []string
		for _, part := range strings.Split(e.text, "…") {
			parts = append(parts, regexp.QuoteMeta(part))
		}
		e.pattern = regexp.MustCompile(`(?s)^(?:` + strings.Join(parts, `.*`) + `)$`)
		out = append(out, e)
	}
	if rows := strings.Count(text, "\n| `"); rows != len(out) {
		t.Fatalf("%d of %d rows between %q and %q have a message, a cause and a cure", len(out), rows, from, to)
	}
	return out
}

var refusal = regexp.MustCompile(`(?m)^[a-z0-9_.-]+\.(?:yaml|csv|geojson|parquet|arrow|gz|zst):\d+:\d+: (.*)$`)

// TestEveryRefusalOfASpecIsExplained compares docs/errors.md with the refusals in spec/testdata: each refusal must
// have a row, and each row a refusal.
func TestEveryRefusalOfASpecIsExplained(t *testing.T) {
	atRoot(t)
	rows := explainedIn(t, "## The spec", "## The plan")
	files, err := filepath.Glob(filepath.Join("spec", "testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	refusals := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refusal.FindAllStringSubmatch(string(text), -1) {
			refusals++
			found := false
			// The message stands behind the path of the key, where there is one, which may hold a colon itself.
			for rest, more := r[1], true; more; _, rest, more = strings.Cut(rest, ": ") {
				for _, row := range rows {
					if row.pattern.MatchString(rest) {
						row.met, found = true, true
					}
				}
			}
			if !found {
				t.Errorf("%s: docs/errors.md has no row for: %s", filepath.Base(file), r[1])
			}
		}
	}
	if refusals < 700 {
		t.Errorf("%d refusals found", refusals)
	}
	for _, row := range rows {
		if !row.met {
			t.Errorf("docs/errors.md explains what no refusal of spec/testdata says: %s", row.text)
		}
	}
}

var verb = regexp.MustCompile(`%[-+# 0]*(?:\[\d\])?[0-9.]*[a-zA-Z]`)

// stringLiterals returns the string literals of a file, concatenated where the source adds them up, with … for what is
// filled in.
func stringLiterals(n ast.Node) []string {
	var out []string
	ast.Inspect(n, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		s, isText := foldLiteral(e)
		if isText {
			out = append(out, verb.ReplaceAllString(strings.ReplaceAll(s, "%%", "%"), "…"))
		}
		return !isText
	})
	return out
}

// foldLiteral returns the text of a literal, or of a sum that contains some.
func foldLiteral(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			a, left := foldLiteral(e.X)
			b, right := foldLiteral(e.Y)
			if !left {
				a = "…"
			}
			if !right {
				b = "…"
			}
			return a + b, left || right
		}
	}
	return "", false
}

// errorPackages are the packages that make errors that reach a person.
var errorPackages = []string{"budget/ledger", "cmd/dprelease", "histogram", "histogram/evaluate",
	"histogram/internal/encoding", "histogram/scan", "internal/account", "internal/derive", "internal/diff",
	"internal/draft", "internal/durable", "internal/ending", "internal/evaluate", "internal/keyfile", "internal/memory",
	"internal/parallel", "internal/seal",
	"internal/planfile", "internal/predict", "internal/published", "internal/query", "internal/release", "budget/sign",
	"internal/state",
	"internal/trace", "internal/verdict", "internal/verify", "plan", "synth/model"}

// within are texts that occur within messages that have a row.
var within = []string{
	"The account admits no further release in ….",
	"entry … …; nothing is spent from it any more",
	"… is … in the release and … in the account",
}

// TestEveryErrorIsExplained compares the rest of docs/errors.md with the source: every row must have a text in the
// source, and the texts of errors that decide exit codes must have a row.
func TestEveryErrorIsExplained(t *testing.T) {
	atRoot(t)
	rows := explainedIn(t, "## The plan", "")
	eachFile(t, errorPackages, false, func(path string, file *ast.File) {
		for _, s := range stringLiterals(file) {
			for _, row := range rows {
				row.met = row.met || inSource(row, s)
			}
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Error" || f.Body == nil || !isOfExportedType(f) {
				continue
			}
			for _, s := range stringLiterals(f.Body) {
				if words := strings.Fields(strings.ReplaceAll(s, "…", " ")); len(words) < 7 || strings.HasPrefix(s,
					" ") ||
					slices.Contains(within, s) {
					continue // a part of a message
				}
				found := false
				for _, row := range rows {
					found = found || inSource(row, s)
				}
				if !found {
					t.Errorf("%s: docs/errors.md has no row for: %s", path, s)
				}
			}
		}
	})
	for _, row := range rows {
		if !row.met {
			t.Errorf("docs/errors.md explains what the program does not say: %s", row.text)
		}
	}
}

// inSource reports whether a text in the source is that of the row, or contains it.
func inSource(row *explainedMessage, source string) bool {
	at := 0
	for _, part := range strings.Split(row.text, "…") {
		part = strings.Trim(part, " ")
		i := strings.Index(source[at:], part)
		if i < 0 {
			return false
		}
		at += i + len(part)
	}
	return true
}

// isOfExportedType reports whether a method belongs to an exported type.
func isOfExportedType(f *ast.FuncDecl) bool {
	e := f.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	name, ok := e.(*ast.Ident)
	return ok && name.IsExported()
}
