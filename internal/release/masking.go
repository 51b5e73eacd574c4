package release

// This file holds what one of several holders masks its answers for, and its share of them.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// masking is what a holder masks its answers for.
type masking struct {
	participation
	nonced holder.Roll // the roll with the nonces of all who take part
	masks  *holder.Masks
	key    holder.Key
	rounds string // the folder that all holders share
	log    *slog.Logger
	book   book
	entry  bookEntry // of the plan, as it was before the run
}

// maskingFor returns what the holder masks for, once everybody on the roll has signed it; nil if the plan has no
// holders and none is named.
//
// Contract: no share is masked for a roll that some holder on it has not signed, or that lacks a holder who has not
// signed its withdrawal; nor for a nonce that the holder's own key has not signed last; nor, of answers that were
// sealed, for other nonces of the others.
func (o Options) maskingFor(p *compiled.Compiled) (*masking, error) {
	switch held := p.Release().Holders != nil; {
	case !held && o.Holder == nil:
		return nil, nil
	case !held:
		return nil, refuseHolder(p, "has no holders: leave out --holder")
	case o.Holder == nil:
		return nil, refuseHolder(p, "is of several holders, each of which measures its part: dprelease measure "+
			"--holder NAME, and then dprelease combine")
	case o.FromShards != "":
		return nil, refuseHolder(p, "is of several holders, and a holder's part is counted in one place: leave out "+
			"--from-shards")
	}
	if at := slices.IndexFunc(p.Models, plan.Model.Adaptive); at >= 0 {
		if err := checkRounds(p, p.Models[at].Name, o.Holder.Rounds); err != nil {
			return nil, err
		}
	}
	with, err := participationIn(p, o.Holder.Roll)
	if err != nil {
		return nil, err
	}
	nonces, err := signedNonces(p, with.roll, o.Holder.Roll)
	if err != nil {
		return nil, err
	}
	m := &masking{participation: with, key: o.Holder.Key, rounds: o.Holder.Rounds, log: o.logger(),
		book: bookOf(o.Holder.KeyFile, o.Holder.Key)}
	if m.nonced, err = with.roll.WithNonces(nonces); err != nil {
		return nil, refuseHolder(p, "cannot be measured with these signatures: "+err.Error())
	}
	if m.masks, err = holder.NewMasks(m.nonced, o.Holder.Key, o.Holder.Name); err != nil {
		return nil, refuseHolder(p, fmt.Sprintf("cannot be measured for %s: %v", o.Holder.Name, err))
	}
	m.entry, err = m.book.check(p, o.Holder.Name, nonces)
	return m, err
}

// signedNonces returns the nonces of all holders on a roll, each of whom has signed the roll with its own.
func signedNonces(p *compiled.Compiled, roll holder.Roll, dir string) (map[string][]byte, error) {
	nonces := map[string][]byte{}
	var missing []string
	for _, name := range roll.Holders {
		s, path, err := readSignature(p, dir, name, rollFormat)
		switch {
		case err != nil:
			return nil, err
		case s == nil:
			missing = append(missing, name)
			continue
		case s.Roll != roll.Hash():
			return nil, refuseSignature(path, name+" signed another plan, or with other holders: all sign the same")
		}
		if err := roll.Verify(name, s.Nonce, s.Signature); err != nil {
			return nil, refuseSignature(path, err.Error())
		}
		nonces[name] = s.Nonce
	}
	if len(missing) > 0 {
		return nil, refuseHolder(p, fmt.Sprintf("is not signed by %s (in %s): each holder signs it with dprelease "+
			"holder sign, before any of them measures",
			strings.Join(missing, ", "), dir))
	}
	return nonces, nil
}

// place returns the folder that measuring a plan seals: of a holder, that of the share that it draws, or another one if
// these answers are masked anew.
func (o Options) place(p *compiled.Compiled, m *masking) (string, error) {
	if m == nil {
		return MeasuredFolder(o.Out, p.Name), nil
	}
	drawn := ShareFolder(o.Out, p.Name, m.masks.Holder())
	there, err := durable.Exists(drawn)
	if err != nil || !there {
		return drawn, err
	}
	share, err := measured.ReadShare(drawn)
	if err != nil || share.Roll == m.masks.Roll() {
		return drawn, err
	}
	return filepath.Join(o.Out, fmt.Sprintf("%s.%s.%.8s.share", p.Name, m.masks.Holder(), m.masks.Roll())), nil
}

// bind binds the nonce of the holder to the draw that was debited, before anything is masked.
func (m *masking) bind(ctx context.Context, p *compiled.Compiled, commitment string) error {
	return m.book.draw(ctx, p, m.nonced.Nonces[m.masks.Holder()], commitment)
}

// exchange returns the exchange with the others on the roll.
func (m *masking) exchange(p *compiled.Compiled) *exchange {
	return &exchange{dir: m.rounds, release: p.Name, key: m.key, name: m.masks.Holder(), roll: m.nonced,
		hash: m.masks.Roll(), log: m.log}
}

// recordLeaving records in the book of the key that answers will leave. It is called before the first of them leaves.
func (m *masking) recordLeaving(ctx context.Context, p *compiled.Compiled) error {
	return m.book.recordLeaving(ctx, p, m.masks.Holder(), m.nonced.Nonces)
}

// measuredPlan returns the plan with the noise of those who take part.
func (m *masking) measuredPlan(p *compiled.Compiled) *compiled.Compiled {
	if len(m.withdrawn) == 0 {
		return p
	}
	var names []string
	for _, w := range m.withdrawn {
		names = append(names, w.Holder)
	}
	return p.WithoutHolders(names)
}

// maskAgain masks the answers of the share that the holder has drawn, in one folder, for another roll or other nonces,
// and seals them in place. Nothing is drawn or debited. It does nothing if the holder has drawn no share there.
//
// Guarantee: the answers of both shares are the same, so that sums of either tell the same of those who are on both
// rolls; whoever is on the first alone has never let its share out. Argument: docs/proofs/holders.md.
func (m *masking) maskAgain(ctx context.Context, o Options, p *compiled.Compiled, place string) (done bool,
	status string,
	err error) {
	drawn := ShareFolder(o.Out, p.Name, o.Holder.Name)
	if place == drawn {
		return false, "", nil
	}
	record, err := sealedFor(drawn, p, o)
	if err != nil {
		return false, "", err
	}
	if err := o.reconcileMeasured(ctx, p, drawn, *record); err != nil {
		return false, "", err
	}
	s, seal, was, err := o.ownShare(drawn)
	if err != nil {
		return false, "", err
	}
	if m.entry.Seal != seal { // else its answers would be a second vector under the masks of the nonce
		return false, "", &ShareRefused{drawn, "its answers were not drawn for the last signature of this key: move " +
			"it away, and the answers are drawn again"}
	}
	old, err := holder.NewMasks(was, o.Holder.Key, o.Holder.Name)
	if err != nil {
		return false, "", err
	}
	if err := m.maskAnew(old, s); err != nil {
		return false, "", err
	}
	s.Share = m.share()
	s.Share.Drawn = seal
	out, err := stage(o.Out, filepath.Base(place))
	if err != nil {
		return false, "", err
	}
	defer out.discard()
	if err := m.sealShare(out.Write, s); err != nil {
		return false, "", err
	}
	return true, s.Status, out.commit()
}

// ownShare reads the share that the holder has drawn in a folder, which must have its signature, with its seal and the
// roll that it was masked for.
func (o Options) ownShare(dir string) (s *measured.Sealed, seal string, roll holder.Roll, err error) {
	if s, _, err = openSealed(dir, false); err != nil {
		return nil, "", roll, err
	}
	refuse := func(why string) (*measured.Sealed, string, holder.Roll, error) {
		return nil, "", roll, &ShareRefused{dir, why}
	}
	if s.Share == nil || s.Share.Holder != o.Holder.Name || s.Share.Drawn != "" {
		return refuse("it is not the share that " + o.Holder.Name + " has drawn")
	}
	if seal, roll, _, err = checkShare(dir, s); err != nil {
		return refuse(err.Error())
	}
	return s, seal, roll, nil
}

// maskAnew takes the old masks off all answers of a share and puts the new ones on.
func (m *masking) maskAnew(old *holder.Masks, s *measured.Sealed) error {
	for _, a := range s.Measured {
		if err := m.exchangeMasks(old, a.Measurement.Canonical(), a.Values.Int64Values()); err != nil {
			return err
		}
	}
	for i, model := range s.Plan.Models {
		if model.Adaptive() { // all holders answered its rounds, so none of them can have withdrawn
			return errors.New("rounds that depend on each other are of one roll")
		}
		for round, answer := range s.Training[i].Rounds {
			if err := m.exchangeMasks(old, histogram.MomentsDefinition(model, round), answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// exchangeMasks takes the old masks off an answer and puts the new ones on.
func (m *masking) exchangeMasks(old *holder.Masks, definition []byte, values []int64) error {
	words := make([]uint64, len(values))
	for i, x := range values {
		words[i] = uint64(x)
	}
	clear(values)
	if err := old.Unmask(definition, words); err != nil {
		return err
	}
	if err := m.masks.Mask(definition, words); err != nil {
		return err
	}
	for i, x := range words {
		values[i] = int64(x)
	}
	return nil
}

// share returns what the share says of itself.
func (m *masking) share() *measured.Share {
	return &measured.Share{Holder: m.masks.Holder(), Roll: m.masks.Roll(), Nonces: m.nonced.Nonces,
		Withdrawn: m.withdrawn}
}

// sealDrawn seals the share of a draw, once the book has its seal.
func (m *masking) sealDrawn(ctx context.Context, write func(name string, b []byte) error, s *measured.Sealed) error {
	seal, err := measured.HashOf(s)
	if err != nil {
		return err
	}
	if err := m.book.recordSeal(ctx, s.Plan, m.masks.Holder(), m.nonced.Nonces, seal); err != nil {
		return err
	}
	return m.sealShare(write, s)
}

// sealShare seals a share, with the holder's signature under the seal.
func (m *masking) sealShare(write func(name string, b []byte) error, s *measured.Sealed) error {
	seal, err := measured.HashOf(s)
	if err != nil {
		return err
	}
	signature, err := m.nonced.SignShare(m.key, s.Share.Holder, seal, s.Share.Drawn)
	if err != nil {
		return err
	}
	if err := write(measured.ShareSignature, signature); err != nil {
		return err
	}
	return measured.Seal(write, s)
}

// checkShare returns the seal of a share, the roll that it was masked for and its signature. It returns an error unless
// its holder has signed it for that roll.
func checkShare(dir string, s *measured.Sealed) (seal string, roll holder.Roll, signature []byte, err error) {
	with, err := participationOf(s.Plan, s.Share.Withdrawn)
	if err == nil {
		roll, err = with.roll.WithNonces(s.Share.Nonces)
	}
	if err == nil && roll.Hash() != s.Share.Roll {
		err = errors.New("it was masked for another roll than it says")
	}
	if err != nil {
		return "", roll, nil, err
	}
	if signature, err = regular.Read(filepath.Join(dir, measured.ShareSignature), signatureBytes); err != nil {
		return "", roll, nil, fmt.Errorf("its signature, %s, cannot be read", measured.ShareSignature)
	}
	if seal, err = measured.SealHash(dir); err != nil {
		return "", roll, nil, err
	}
	return seal, roll, signature, roll.VerifyShare(s.Share.Holder, seal, s.Share.Drawn, signature)
}
