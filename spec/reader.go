package spec

// This file holds the reader: from a tree that has the shape of the language to a release,
// with everything checked that the shapes cannot say.

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
)

// reader makes a release of one document.
type reader struct {
	*findings
	source *Source
	open   opener
	// declared are the parameters of the spec, params those of them that have a good value.
	declared  map[string]bool
	params    map[string]string
	books     map[string]*codebook
	public    map[string]*publicFile // files of public tables, by their paths
	joined    map[*Join]*publicTable // as they are read
	failed    map[*Table][]string    // joins of tables with which something is wrong
	extras    map[string]string      // the leaves of what is bought beside the split, by the path where it is asked for
	figured   map[string]bool        // the columns that have statistics of their values
	discovers bool                   // what is read may name columns whose categories are not listed
	spent     int                    // what the domains of all columns take so far, in cells
	release   *Release
}

func newReader(src *Source, open opener) *reader {
	if src.Name == "" {
		src.Name = "release.yaml"
	}
	return &reader{
		findings: newFindings(src.Name, src.Text),
		source:   src,
		open:     open,
		declared: map[string]bool{},
		params:   map[string]string{},
		books:    map[string]*codebook{},
		public:   map[string]*publicFile{},
		joined:   map[*Join]*publicTable{},
		failed:   map[*Table][]string{},
		extras:   map[string]string{},
		figured:  map[string]bool{},
		release:  &Release{},
	}
}

// readRelease reads the whole document. Parts in which something is already wrong are left
// out, so that one mistake is told once.
func (r *reader) readRelease(root node) {
	r.checkComposed(root)
	r.readParams(root)
	r.release.Name = r.readName(root.get("release"))
	r.readCorrects(root.get("corrects"))
	r.readAbout(root.get("about"))
	r.readFit(root.get("fit"))
	r.readPrivacy(root.get("privacy"))
	r.readBudget(root)
	r.readTables(root)
	r.readImpossible(root)
	r.readInvariants(root)
	r.keepPublic()
	r.readMarginals(root)
	r.readSynthetic(root)
	r.release.Consistent = slices.Contains(root.get("publish").get("integers").texts(), consistent)
	r.checkSample(root)
	r.checkNeeded(root)
	r.checkLeavesUsed(root)
	r.checkTotal(root)
}

// problem reports a problem with a value.
func (r *reader) problem(n node, p Problem) { r.report(n.position(), n.path, p) }

// number reads an exact number that already has the shape of one; it reports what is beyond
// the limits.
func (r *reader) number(n node) (*big.Rat, bool) {
	x, err := parseNumber(n.text())
	if err != nil {
		r.problem(n, Problem{Message: err.Error(), Expected: "a shorter number"})
		return nil, false
	}
	return x, true
}

// whole reads a whole number that already has the shape of one.
func (r *reader) whole(n node) int64 {
	x, _ := parseNumber(n.text())
	return x.Num().Int64()
}

// nearestFix fills in the nearest name and the line mended with it.
func (r *reader) nearestFix(n node, p Problem, near string) Problem {
	if near != "" {
		p.Nearest, p.Fix = near, r.mended(n.value, near)
	}
	return p
}

// maxSpent bounds what the domains of a release take together, so that a short spec cannot ask
// for more memory than a machine has.
const maxSpent = 2 * maxCells

// spend counts categories, and maps from base cells to a level, which take an eighth of a
// category each. It reports the column at which the bound is passed.
func (r *reader) spend(column node, categories, mapped int) bool {
	r.spent += categories + mapped/8
	if r.spent <= maxSpent {
		return true
	}
	r.report(column.key, column.path, Problem{
		Message:  fmt.Sprintf("the domains up to this one have more than %d cells and categories together", maxSpent),
		Expected: "coarser domains, or fewer levels",
	})
	return false
}

var releaseName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// maxName is the longest name of a release: it names files and folders.
const maxName = 100

// readName reads the name of a release, "" where it is none.
func (r *reader) readName(n node) string {
	if !r.sound(n) {
		return ""
	}
	name, ok := r.fill(n)
	switch {
	case !ok:
	case !releaseName.MatchString(name):
		r.problem(n, Problem{
			Message:  fmt.Sprintf("%q is not a name for a release", clip(name)),
			Expected: "a–z, 0–9, dot, _ and -, starting with a letter or digit: it names files",
		})
	case len(name) > maxName:
		r.problem(n, Problem{Message: fmt.Sprintf("a name of %d characters", len(name)), Expected: "at most 100: it names files"})
	default:
		return name
	}
	return ""
}

// readCorrects reads the name of the release that this one corrects, which is another.
func (r *reader) readCorrects(n node) {
	name := r.readName(n)
	if name != "" && name == r.release.Name {
		r.problem(n, Problem{
			Message:  "a release that corrects itself",
			Expected: "the name of an earlier release; the correction has a name of its own, and a debit of its own",
		})
		return
	}
	r.release.Corrects = name
}

func (r *reader) readAbout(n node) {
	about := &r.release.About
	for key, into := range map[string]*string{"title": &about.Title, "population": &about.Population, "period": &about.Period, "contact": &about.Contact} {
		if text := n.get(key); r.sound(text) {
			*into, _ = r.fill(text)
		}
	}
}

func (r *reader) readPrivacy(n node) {
	if !r.sound(n) {
		return
	}
	r.release.Privacy = Privacy{
		Protects:   n.get("protects").text(),
		Neighbours: Neighbours(n.get("neighbours").text()),
	}
	r.readAccounts(n.get("account"))
	if resume := n.get("resume"); resume.present() {
		r.release.Privacy.Resume = Resume(resume.text())
	}
	if total := n.get("total"); total.present() {
		r.release.Privacy.Total = isTrue(total.text())
	}
}

// readAccounts reads the account of the release and those of further datasets.
func (r *reader) readAccounts(n node) {
	if !r.sound(n) {
		return
	}
	names := n.texts()
	for i, item := range n.items() {
		if slices.Contains(names[:i], item.text()) {
			r.problem(item, Problem{Message: fmt.Sprintf("account %q is there twice", clip(item.text())), Expected: "each account once: a release is charged to it once"})
		}
	}
	r.release.Privacy.Account = names[0]
	if len(names) > 1 {
		r.release.Privacy.Also = names[1:]
	}
}

func isTrue(text string) bool { return text == "true" || text == "True" || text == "TRUE" }
