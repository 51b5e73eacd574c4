package main

import (
	"fmt"
	"go/types"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// writeFigures writes all figures of the packages that were read.
func (t *tree) writeFigures(w io.Writer) error {
	for _, write := range []func(io.Writer) error{t.writePackages, t.writeKinds, t.writeRepresentations, t.writeSites} {
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

// writePackages writes a line for each package.
func (t *tree) writePackages(w io.Writer) error {
	fmt.Fprintf(w, `By package, as built for %s/%s, without tests unless it says so.
files: files; cycle: the largest set of files of which each reaches each other by references to what is declared in them
statements: in bodies of functions, without blocks, cases and labels
names: exported constants, variables, types and functions; members: exported methods and fields of exported types
functions: of more than %d lines; lines: of more than %d characters, a tab being one; in tests: such lines in tests

`, runtime.GOOS, runtime.GOARCH, mostLines, mostColumns)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "files\tcycle\tstatements\tnames\tmembers\tfunctions\tlines\tin tests\t  package")
	var all, support figureRow
	tested := t.testSupport()
	for _, s := range t.sources {
		r := t.rowOf(s)
		r.write(table, s.path)
		all.addRow(r)
		if tested[s.path] {
			support.addRow(r)
		}
	}
	all.write(table, "all; of cycles the largest")
	support.write(table, "of which no command needs: what tests share, and this program")
	return table.Flush()
}

// testSupport returns the packages that no command but this one reaches: what tests of several packages share, and
// this program.
func (t *tree) testSupport() map[string]bool {
	support, reached := map[string]bool{}, map[*types.Package]bool{}
	var reach func(p *types.Package)
	reach = func(p *types.Package) {
		if !reached[p] {
			reached[p] = true
			for _, imported := range p.Imports() {
				reach(t.packageAt(imported))
			}
		}
	}
	for _, s := range t.sources {
		if s.pkg.Name() == "main" && !strings.HasPrefix(s.path, "internal/structure/") {
			reach(s.pkg)
		}
	}
	for _, s := range t.sources {
		if !reached[s.pkg] && len(s.names) > 0 && s.countStatements() > 0 {
			support[s.path] = true
		}
	}
	return support
}

// packageAt returns a package as it was read here, if it was: packages that others import are read from export data as
// well.
func (t *tree) packageAt(p *types.Package) *types.Package {
	for _, s := range t.sources {
		if s.pkg.Path() == p.Path() {
			return s.pkg
		}
	}
	return p
}

// figureRow holds the figures of a package, or of all.
type figureRow struct {
	files, cycle, statements, names, members, functions, lines, testLines int
}

func (t *tree) rowOf(s *source) figureRow {
	r := figureRow{files: len(s.names), statements: s.countStatements()}
	r.cycle = len(t.references(s).largestCycle())
	r.names, r.members = s.countExported()
	r.functions = len(t.longFunctions(s))
	for _, text := range s.texts {
		r.lines += len(longLines(text))
	}
	for _, text := range s.tests {
		r.testLines += len(longLines(text))
	}
	return r
}

func (r *figureRow) addRow(other figureRow) {
	r.files += other.files
	r.cycle = max(r.cycle, other.cycle)
	r.statements += other.statements
	r.names += other.names
	r.members += other.members
	r.functions += other.functions
	r.lines += other.lines
	r.testLines += other.testLines
}

func (r figureRow) write(w io.Writer, name string) {
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n",
		r.files, r.cycle, r.statements, r.names, r.members, r.functions, r.lines, r.testLines, name)
}

// writeKinds writes how many places test for each kind, and how many in each package.
func (t *tree) writeKinds(w io.Writer) error {
	byKind, byPackage, all := map[string]int{}, map[string]int{}, 0
	for _, s := range t.sources {
		for _, found := range t.kindTests(s) {
			byKind[found.kind]++
			byPackage[s.path]++
			all++
		}
	}
	fmt.Fprintf(w, "\nTests of kinds outside the registries: %d\n%s\n\n", all, kindRule)
	for _, k := range kinds {
		fmt.Fprintf(w, "%5d  %s\n", byKind[k.name], k.name)
	}
	fmt.Fprintf(w, "by package: %s\n", countsText(byPackage))
	lacks, legal := 0, t.legalPairs()
	for _, s := range t.sources {
		lacks += len(t.missingEntries(s, legal))
	}
	fmt.Fprintf(w, "Arrays by kind that have nothing for a kind, or for a pair that is legal: %d\n", lacks)
	return nil
}

// countsText lists names with their counts.
func countsText(of map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, fmt.Sprintf("%s %d", name, of[name]))
	}
	return strings.Join(all, ", ")
}

func (t *tree) writeRepresentations(w io.Writer) error {
	lines, all := "", 0
	for _, s := range t.sources {
		if found := s.representations(); len(found) > 0 {
			all += len(found)
			lines += fmt.Sprintf("%5d  %s: %s\n", len(found), s.path, strings.Join(found, ", "))
		}
	}
	_, err := fmt.Fprintf(w, "\nRepresentations of a marginal: %d\n%s\n\n%s", all, wayRule, lines)
	return err
}

// writeSites writes how many places do the tasks that each step should do once.
func (t *tree) writeSites(w io.Writer) error {
	fmt.Fprint(w, "\nPlaces in the source that do what each step should do once\n\n")
	for _, work := range tasks {
		byPackage, all := map[string]int{}, 0
		for _, s := range t.sources {
			if n := len(s.callSites(work)); n > 0 {
				byPackage[s.path] = n
				all += n
			}
		}
		fmt.Fprintf(w, "%5d  %s (%s): %s\n", all, work.name, strings.Join(work.functions, ", "), countsText(byPackage))
	}
	return nil
}

// writeList writes the places that the figures of a package count.
func (t *tree) writeList(w io.Writer, s *source) {
	for _, f := range t.longFunctions(s) {
		fmt.Fprintf(w, "%s: function of %d lines: %s\n", t.fset.Position(f.Pos()), t.lineCount(f), f.Name.Name)
	}
	for i, text := range s.texts {
		for _, line := range longLines(text) {
			fmt.Fprintf(w, "%s:%d: line of more than %d characters\n", path.Join(s.path, s.names[i]), line, mostColumns)
		}
	}
	for _, found := range t.kindTests(s) {
		fmt.Fprintf(w, "%s: test of a kind: %s\n", t.fset.Position(found.at.Pos()), found.kind)
	}
	for _, work := range tasks {
		for _, at := range s.callSites(work) {
			fmt.Fprintf(w, "%s: %s\n", t.fset.Position(at.Pos()), work.name)
		}
	}
}
