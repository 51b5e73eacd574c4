package release

// This file holds the sum of the shares of all holders.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Combine adds the shares of all holders of a release, and seals their sum in out/NAME.measured. It spends nothing, and
// gives the same bytes every time. If that folder already holds the sum of these shares, the result says so.
//
// Errors: *[BrokenSeal] for a folder that is not as it was sealed; *[ShareRefused] for one that is not a share of this
// sum, and where one is missing.
func Combine(ctx context.Context, shares []string, o Options) (Result, error) {
	c := &combination{sums: map[string][]int64{}, held: map[string]measured.Held{}}
	ctx = progress.Begin(ctx, int64(len(shares)), "adding %s", budget.Plural(int64(len(shares)), "share"))
	for _, dir := range shares {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		progress.Add(ctx, 1)
		if err := c.add(dir); err != nil {
			return Result{}, err
		}
	}
	s, err := c.sealed()
	if err != nil {
		return Result{}, err
	}
	if err := durable.MakeFolder(o.Out, 0o755); err != nil {
		return Result{}, fmt.Errorf("output folder: %w", err)
	}
	result := Result{Folder: MeasuredFolder(o.Out, s.Plan.Name), Status: s.Status}
	if there, err := durable.Exists(result.Folder); err != nil {
		return result, err
	} else if there {
		result.AlreadyDone = true
		return result, isSum(result.Folder, s)
	}
	out, err := stage(o.Out, filepath.Base(result.Folder))
	if err != nil {
		return result, err
	}
	defer out.discard()
	if err := measured.Seal(out.Write, s); err != nil {
		return result, err
	}
	return result, out.commit()
}

// isSum returns an error unless a folder holds a sum.
func isSum(dir string, s *measured.Sealed) error {
	has, err := measured.SealHash(dir)
	if err != nil {
		return occupiedBy(dir, err)
	}
	if want, err := measured.HashOf(s); err != nil || has != want {
		return errors.Join(err, &Occupied{Folder: dir, Why: "holds something else than the sum of these shares"})
	}
	return nil
}

// combination is what was added so far.
type combination struct {
	plan   *compiled.Compiled // of the first share
	status string
	with   participation
	share  measured.Share      // the first
	sums   map[string][]int64  // by measurement, modulo 2^64
	models []measured.Training // sums of the answers for each model of the plan, modulo 2^64
	held   map[string]measured.Held
	last   string // the last folder
}

// add adds the share in a folder.
func (c *combination) add(dir string) error {
	if err := checkSealed(dir); err != nil {
		return &verdict.Unusable{File: dir, Err: err}
	}
	s, _, err := openSealed(dir, false)
	if err != nil {
		return err
	}
	refuse := func(why string) error { return &ShareRefused{dir, why} }
	if s.Share == nil {
		return refuse("it is not the share of a holder, which dprelease measure --holder writes")
	}
	if c.plan == nil {
		c.plan, c.status, c.share = s.Plan, s.Status, *s.Share
		if c.with, err = participationOf(c.plan, s.Share.Withdrawn); err != nil {
			return err
		}
	}
	name := s.Share.Holder
	_, repeated := c.held[name]
	switch {
	case s.Plan.Hash() != c.plan.Hash():
		return refuse("it is of another plan than " + c.last)
	case s.Share.Roll != c.share.Roll:
		return refuse(fmt.Sprintf("it was masked for another roll than that of %s", cmp.Or(c.last, "its plan")))
	case repeated:
		return refuse("it is a second share of " + name)
	case s.Status != c.status:
		return refuse(fmt.Sprintf("it is marked %s, and %s is marked %s", s.Status, c.last, c.status))
	}
	seal, _, signature, err := checkShare(dir, s)
	if err != nil {
		return refuse(err.Error())
	}
	for _, m := range s.Measured {
		c.addAnswer(m)
	}
	if err := c.addTraining(s.Training); err != nil {
		return refuse(err.Error())
	}
	c.held[name] = measured.Held{
		Holder:    name,
		Nonce:     s.Share.Nonces[name],
		Seal:      seal,
		Drawn:     s.Share.Drawn,
		Signature: signature,
		Receipt:   s.Receipt,
	}
	c.last = dir
	return nil
}

// addAnswer adds a masked answer to the others.
func (c *combination) addAnswer(m measured.Measured) {
	id := m.Measurement.ID
	sum, ok := c.sums[id]
	if !ok {
		sum = make([]int64, m.Values.Len())
		c.sums[id] = sum
	}
	holder.Add(sum, m.Values.Int64Values())
}

// addTraining adds a holder's masked answers for all models to those of the others. It returns an error if there are
// not as many.
func (c *combination) addTraining(all []measured.Training) error {
	if c.models == nil {
		c.models = all
		return nil
	}
	for i, t := range all {
		sum := &c.models[i]
		for round, answer := range append(slices.Clone(t.Rounds), t.HeldOut) {
			to := sum.HeldOut
			if round < len(t.Rounds) {
				to = sum.Rounds[round]
			}
			if len(to) != len(answer) {
				return fmt.Errorf("it has another number of answers for the model %s than %s", c.plan.Models[i].Name,
					c.last)
			}
			holder.Add(to, answer)
		}
	}
	return nil
}

// sealed returns the sum of all shares as it is sealed. It returns an error if one is missing, and if masks are left.
func (c *combination) sealed() (*measured.Sealed, error) {
	if c.plan == nil {
		return nil, &ShareRefused{".", "there are no shares"}
	}
	s := &measured.Sealed{Plan: c.plan, Status: c.status, Rounds: make([]measured.Rounds, len(c.plan.Synthetic))}
	if missing := c.missing(); len(missing) > 0 {
		return nil, &ShareRefused{
			c.last,
			fmt.Sprintf("the share of %s is missing, without which the masks of the others do not cancel",
				strings.Join(missing, ", ")),
		}
	}
	for _, w := range c.with.withdrawn {
		c.held[w.Holder] = measured.Held{Holder: w.Holder, Withdrawn: true, Signature: w.Signature}
	}
	var all []measured.Held
	for _, h := range c.plan.Release().Holders.All { // in the order of their names
		all = append(all, c.held[h.Name])
	}
	s.Receipt = c.held[c.with.roll.Holders[0]].Receipt
	for _, m := range c.plan.Measurements {
		sum := c.sums[m.ID]
		if err := holder.Check(sum); err != nil {
			return nil, c.leftMasks(err)
		}
		s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: measured.Column(sum)})
	}
	for _, t := range c.models {
		if err := holder.Check(slices.Concat(append(t.Rounds, t.HeldOut)...)); err != nil {
			return nil, c.leftMasks(err)
		}
		s.Training = append(s.Training, t)
	}
	s.SetHolders(all)
	return s, nil
}

// leftMasks returns the error for a sum in which masks are left.
func (c *combination) leftMasks(err error) error {
	return &ShareRefused{c.last, err.Error() + ": have every holder check its key and its plan"}
}

// missing returns those who take part and whose share is not there.
func (c *combination) missing() []string {
	return slices.DeleteFunc(slices.Clone(c.with.roll.Holders),
		func(name string) bool { _, ok := c.held[name]; return ok })
}
