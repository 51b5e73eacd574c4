package spec

// This file reads the name of a release, what it is about, and whom it protects.

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
)

var releaseName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// maxName is the largest length of a release's name, which is used in names of files and folders.
const maxName = 100

// readName reads the name of a release. It returns "" if the name is invalid.
func (r *reader) readName(n document.Node) string {
	if !r.IsSound(n) {
		return ""
	}
	name, ok := r.params.Fill(n)
	switch {
	case !ok:
	case !releaseName.MatchString(name):
		r.AddProblem(n, document.Problem{
			Message:  fmt.Sprintf("%q is not a name for a release", document.Clip(name)),
			Expected: "a–z, 0–9, dot, _ and -, starting with a letter or digit: it names files",
		})
	case len(name) > maxName:
		r.AddProblem(n, document.Problem{Message: fmt.Sprintf("a name of %d characters", len(name)),
			Expected: "at most 100: it names files"})
	default:
		return name
	}
	return ""
}

// readCorrects reads the name of the release that this one corrects, which must differ from its own.
func (r *reader) readCorrects(n document.Node) {
	name := r.readName(n)
	if name != "" && name == r.release.Name {
		r.AddProblem(n, document.Problem{
			Message:  "a release that corrects itself",
			Expected: "the name of an earlier release; the correction has a name of its own, and a debit of its own",
		})
		return
	}
	r.release.Corrects = name
}

func (r *reader) readAbout(n document.Node) {
	for key, into := range r.release.About.byKey() {
		if text := n.Get(key); r.IsSound(text) {
			*into, _ = r.params.Fill(text)
		}
	}
}

func (r *reader) readPrivacy(n document.Node) {
	if !r.IsSound(n) {
		return
	}
	r.release.Privacy = Privacy{
		Protects:   n.Get("protects").Text(),
		Neighbours: Neighbours(n.Get("neighbours").Text()),
		Resume:     Resume(n.Get("resume").Text()),
		Total:      n.Get("total").IsTrue(),
	}
	r.readAccounts(n.Get("account"))
}

// readAccounts reads the account of the release and the accounts of further datasets.
func (r *reader) readAccounts(n document.Node) {
	if !r.IsSound(n) {
		return
	}
	names := n.Texts()
	for i, item := range n.Items() {
		if slices.Contains(names[:i], item.Text()) {
			r.AddProblem(item, document.Problem{Message: fmt.Sprintf("account %q appears twice",
				document.Clip(item.Text())),
				Expected: "each account once: a release is charged to it once"})
		}
	}
	r.release.Privacy.Account = names[0]
	if len(names) > 1 {
		r.release.Privacy.FurtherAccounts = names[1:]
	}
}
