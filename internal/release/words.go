package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// This file handles words that change after the noise was drawn: they cost nothing, and who approved the old ones has
// to approve the new ones.

// withWords returns sealed measurements with the words that the options name, or those of the publication that a
// revision replaces. Errors: *[verdict.Unusable] for words of another plan; *[published.Altered] if the words of the
// previous publication were changed.
func (o Options) withWords(ctx context.Context, s *measured.Sealed) (*measured.Sealed, error) {
	out, from := *s, o.Words
	var words *spec.Words
	switch before := (Revision{Number: o.Revision.Number - 1}).place(o.Out, s.Plan.Name); {
	case from != "":
		var err error
		if words, err = planfile.ReadWords(ctx, from); err != nil {
			return nil, err
		}
	case o.Revision.Number > 1:
		replaces, err := published.Open(before)
		if err != nil {
			return nil, err
		}
		words, from = replaces.Plan.Release().Words, before
	default:
		return s, nil
	}
	var err error
	if out.Plan, err = s.Plan.WithWords(words); err != nil {
		return nil, &verdict.Unusable{File: from, Err: err}
	}
	return &out, nil
}

// checkWords returns an error if a folder of the plan's measurements or its release has other words than the plan.
func (o Options) checkWords(place string, p *compiled.Compiled) error {
	b, err := published.ReadFile(filepath.Join(place, measured.WordsFile))
	if err != nil {
		return err
	}
	if there, err := spec.ReadWords(b); err == nil && there.Hash() == p.Release().Words.Hash() {
		return nil
	}
	return &verdict.Unusable{File: place, Err: errors.New(
		"this plan was measured with other titles or labels. New ones cost nothing: `dprelease plan` writes them to " +
			"NAME.words.json, and `dprelease publish NAME.measured --words NAME.words.json` publishes them, as a " +
			"revision if the release is published already")}
}

// wordsApprovals returns approvals of the words of a plan by everybody who approved the plan with other words, from the
// folder of approvals, or that of the measurements; none if the words are those that were approved. Errors:
// *[verdict.Unusable] if one is missing.
func (o Options) wordsApprovals(sealed string, p *compiled.Compiled, record ledger.Record) ([]ledger.Approval, error) {
	hash := p.Release().Words.Hash()
	isOfOthers := func(a ledger.Approval) bool { return a.Words != hash }
	if !slices.ContainsFunc(record.Approvals, isOfOthers) {
		return nil, nil
	}
	all, err := account.Approvals(cmp.Or(o.Approvals, filepath.Dir(sealed)))
	if err != nil {
		return nil, err
	}
	if o.Revision.Number > 1 {
		before, err := published.ReadManifest(Revision{Number: o.Revision.Number - 1}.place(o.Out, p.Name))
		if err != nil {
			return nil, err
		}
		all = append(all, before.Approvals...)
	}
	var used []ledger.Approval
	for _, before := range record.Approvals {
		if !isOfOthers(before) {
			continue
		}
		at := slices.IndexFunc(all, func(a ledger.Approval) bool { return a.RenewsWords(before, p.Hash(), hash) })
		if at < 0 {
			return nil, &verdict.Unusable{File: cmp.Or(o.Words, sealed), Err: fmt.Errorf(
				"the role %s approved other titles and labels: the key with the fingerprint %s has to approve these, "+
					"with `dprelease approve`, and the approval belongs next to the sealed folder",
				before.Role, before.Signer.Fingerprint())}
		}
		used = append(used, all[at])
	}
	return used, nil
}
