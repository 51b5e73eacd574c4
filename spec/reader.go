package spec

// This file holds the reader: from a tree that has the shape of the language to a release,
// with everything checked that the shapes cannot say.

import (
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"math/big"
	"regexp"
	"slices"
)

// reader makes a release of one document.
type reader struct {
	*document.Findings
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
		Findings: document.NewFindings(src.Name, src.Text),
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
func (r *reader) readRelease(root document.Node) {
	r.checkComposed(root)
	r.readParams(root)
	r.release.Name = r.readName(root.Get("release"))
	r.readCorrects(root.Get("corrects"))
	r.readAbout(root.Get("about"))
	r.readFit(root.Get("fit"))
	r.readPrivacy(root.Get("privacy"))
	r.readBudget(root)
	r.readTables(root)
	r.readImpossible(root)
	r.readInvariants(root)
	r.keepPublic()
	r.readMarginals(root)
	r.readSynthetic(root)
	r.release.Consistent = slices.Contains(root.Get("publish").Get("integers").Texts(), consistent)
	r.checkSample(root)
	r.checkNeeded(root)
	r.checkLeavesUsed(root)
	r.checkTotal(root)
}

// problem reports a problem with a value.
func (r *reader) problem(n document.Node, p document.Problem) { r.Report(n.Position(), n.Path, p) }

// number reads an exact number that already has the shape of one; it reports what is beyond
// the limits.
func (r *reader) number(n document.Node) (*big.Rat, bool) {
	x, err := document.ParseNumber(n.Text())
	if err != nil {
		r.problem(n, document.Problem{Message: err.Error(), Expected: "a shorter number"})
		return nil, false
	}
	return x, true
}

// whole reads a whole number that already has the shape of one.
func (r *reader) whole(n document.Node) int64 {
	x, _ := document.ParseNumber(n.Text())
	return x.Num().Int64()
}

// nearestFix fills in the nearest name and the line mended with it.
func (r *reader) nearestFix(n document.Node, p document.Problem, near string) document.Problem {
	if near != "" {
		p.Nearest, p.Fix = near, r.Mended(n.Value, near)
	}
	return p
}

// maxSpent bounds what the domains of a release take together, so that a short spec cannot ask
// for more memory than a machine has.
const maxSpent = 2 * maxCells

// spend counts categories, and maps from base cells to a level, which take an eighth of a
// category each. It reports the column at which the bound is passed.
func (r *reader) spend(column document.Node, categories, mapped int) bool {
	r.spent += categories + mapped/8
	if r.spent <= maxSpent {
		return true
	}
	r.Report(column.Key, column.Path, document.Problem{
		Message:  fmt.Sprintf("the domains up to this one have more than %d cells and categories together", maxSpent),
		Expected: "coarser domains, or fewer levels",
	})
	return false
}

var releaseName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// maxName is the longest name of a release: it names files and folders.
const maxName = 100

// readName reads the name of a release, "" where it is none.
func (r *reader) readName(n document.Node) string {
	if !r.Sound(n) {
		return ""
	}
	name, ok := r.fill(n)
	switch {
	case !ok:
	case !releaseName.MatchString(name):
		r.problem(n, document.Problem{
			Message:  fmt.Sprintf("%q is not a name for a release", document.Clip(name)),
			Expected: "a–z, 0–9, dot, _ and -, starting with a letter or digit: it names files",
		})
	case len(name) > maxName:
		r.problem(n, document.Problem{Message: fmt.Sprintf("a name of %d characters", len(name)), Expected: "at most 100: it names files"})
	default:
		return name
	}
	return ""
}

// readCorrects reads the name of the release that this one corrects, which is another.
func (r *reader) readCorrects(n document.Node) {
	name := r.readName(n)
	if name != "" && name == r.release.Name {
		r.problem(n, document.Problem{
			Message:  "a release that corrects itself",
			Expected: "the name of an earlier release; the correction has a name of its own, and a debit of its own",
		})
		return
	}
	r.release.Corrects = name
}

func (r *reader) readAbout(n document.Node) {
	about := &r.release.About
	for key, into := range map[string]*string{"title": &about.Title, "population": &about.Population, "period": &about.Period, "contact": &about.Contact} {
		if text := n.Get(key); r.Sound(text) {
			*into, _ = r.fill(text)
		}
	}
}

func (r *reader) readPrivacy(n document.Node) {
	if !r.Sound(n) {
		return
	}
	r.release.Privacy = Privacy{
		Protects:   n.Get("protects").Text(),
		Neighbours: Neighbours(n.Get("neighbours").Text()),
	}
	r.readAccounts(n.Get("account"))
	if resume := n.Get("resume"); resume.Present() {
		r.release.Privacy.Resume = Resume(resume.Text())
	}
	if total := n.Get("total"); total.Present() {
		r.release.Privacy.Total = isTrue(total.Text())
	}
}

// readAccounts reads the account of the release and those of further datasets.
func (r *reader) readAccounts(n document.Node) {
	if !r.Sound(n) {
		return
	}
	names := n.Texts()
	for i, item := range n.Items() {
		if slices.Contains(names[:i], item.Text()) {
			r.problem(item, document.Problem{Message: fmt.Sprintf("account %q is there twice", document.Clip(item.Text())), Expected: "each account once: a release is charged to it once"})
		}
	}
	r.release.Privacy.Account = names[0]
	if len(names) > 1 {
		r.release.Privacy.Also = names[1:]
	}
}

func isTrue(text string) bool { return text == "true" || text == "True" || text == "TRUE" }
