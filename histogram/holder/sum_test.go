package holder

import (
	"slices"
	"testing"
)

// TestSumsOfSharesAreChecked adds the shares of three holders, and of two of them.
func TestSumsOfSharesAreChecked(t *testing.T) {
	keys, roll := holders(t, 3, "plan")
	const cells = 200
	sum := make([]int64, cells)
	for i, name := range roll.Holders {
		values := make([]uint64, cells)
		for cell := range values {
			values[cell] = uint64(int64(cell - 100*i))
		}
		masked := make([]int64, cells)
		for cell, x := range maskedBy(t, roll, keys[name], name, "m", values) {
			masked[cell] = int64(x)
		}
		Add(sum, masked)
		if err := Check(sum); (err == nil) != (i == 2) { // masks are left, but for a chance of 2^−200
			t.Errorf("after %d shares: %v", i+1, err)
		}
	}
	for cell, x := range sum {
		if x != int64(3*cell-300) {
			t.Fatalf("cell %d: %d", cell, x)
		}
	}
	if Check([]int64{maxSum}) == nil || Check([]int64{-maxSum}) == nil ||
		Check([]int64{maxSum - 1, 1 - maxSum}) != nil {
		t.Error("the bound of sums is not 2^62")
	}
}

// TestSharesAreSigned signs the share of one holder, and looks whether it passes for anything else.
func TestSharesAreSigned(t *testing.T) {
	keys, roll := holders(t, 2, "plan")
	first, second, seal := roll.Holders[0], roll.Holders[1], hashFor("seal")
	signature, err := roll.SignShare(keys[first], first, seal, seal)
	if err != nil {
		t.Fatal(err)
	}
	if err := roll.VerifyShare(first, seal, seal, signature); err != nil {
		t.Error(err)
	}
	_, other := holders(t, 2, "plan")
	changed := slices.Clone(signature)
	changed[3] ^= 1
	for what, err := range map[string]error{
		"another holder": roll.VerifyShare(second, seal, seal, signature),
		"nobody":         roll.VerifyShare("x", seal, seal, signature),
		"another seal":   roll.VerifyShare(first, hashFor("other"), seal, signature),
		"another draw":   roll.VerifyShare(first, seal, hashFor("other"), signature),
		"another plan":   rollOf(t, keys, "other").VerifyShare(first, seal, seal, signature),
		"other keys":     other.VerifyShare(first, seal, seal, signature),
		"a flipped bit":  roll.VerifyShare(first, seal, seal, changed),
		"the roll":       roll.Verify(first, nil, signature),
	} {
		if err == nil {
			t.Errorf("the signature passes for %s", what)
		}
	}
	if _, err := roll.SignShare(keys[first], second, seal, seal); err == nil {
		t.Error("a holder signs for another")
	}
}

// TestAnswersAreSigned: a holder's signature of an answer passes for this answer, to this question, on this roll.
func TestAnswersAreSigned(t *testing.T) {
	keys, roll := holders(t, 2, "plan")
	first, second, masked := roll.Holders[0], roll.Holders[1], []int64{3, -4}
	signature, err := roll.SignAnswer(keys[first], first, "round 1", masked)
	if err != nil {
		t.Fatal(err)
	}
	if err := roll.VerifyAnswer(first, "round 1", masked, signature); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"another holder":   roll.VerifyAnswer(second, "round 1", masked, signature),
		"nobody":           roll.VerifyAnswer("x", "round 1", masked, signature),
		"another question": roll.VerifyAnswer(first, "round 2", masked, signature),
		"another number":   roll.VerifyAnswer(first, "round 1", []int64{3, 4}, signature),
		"a number less":    roll.VerifyAnswer(first, "round 1", masked[:1], signature),
		"another plan":     rollOf(t, keys, "other").VerifyAnswer(first, "round 1", masked, signature),
		"a share":          roll.VerifyShare(first, "round 1", "", signature),
	} {
		if err == nil {
			t.Errorf("the signature passes for %s", what)
		}
	}
	if _, err := roll.SignAnswer(keys[first], second, "round 1", masked); err == nil {
		t.Error("a holder signs for another")
	}
}

// TestWithdrawnHoldersAreLeftOut has one of four holders withdraw; the others mask anew, and their sum can be read.
func TestWithdrawnHoldersAreLeftOut(t *testing.T) {
	keys, roll := holders(t, 4, "plan")
	gone := roll.Holders[2]
	signature, err := roll.SignWithdrawal(keys[gone], gone)
	if err != nil {
		t.Fatal(err)
	}
	left, err := roll.Without(map[string][]byte{gone: signature})
	if err != nil {
		t.Fatal(err)
	}
	if _, listed := left.Keys[gone]; listed || len(left.Holders) != 3 || left.Hash() == roll.Hash() {
		t.Errorf("left are %v", left.Holders)
	}
	sum := make([]int64, 100)
	for i, name := range left.Holders {
		values := make([]uint64, len(sum))
		for cell := range values {
			values[cell] = uint64(int64(cell - 7*i))
		}
		first := masksOf(t, roll, keys[name], name)
		if err := first.Mask([]byte("m"), values); err != nil {
			t.Fatal(err)
		}
		if err := first.Unmask([]byte("m"), values); err != nil {
			t.Fatal(err)
		}
		masked := make([]int64, len(sum))
		for cell, x := range maskedBy(t, left, keys[name], name, "m", values) {
			masked[cell] = int64(x)
		}
		Add(sum, masked)
	}
	for cell, x := range sum {
		if x != int64(3*cell-21) {
			t.Fatalf("cell %d: %d", cell, x)
		}
	}
	other := roll.Holders[0]
	signed, err := roll.Sign(keys[gone], gone, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, two := holders(t, 2, "plan")
	last, err := two.SignWithdrawal(pair[two.Holders[0]], two.Holders[0])
	if err != nil {
		t.Fatal(err)
	}
	for what, withdrawn := range map[string]map[string][]byte{
		"another": {other: signature}, "the roll": {gone: signed}, "nobody": {"x": signature}, "nothing": {gone: nil},
	} {
		if _, err := roll.Without(withdrawn); err == nil {
			t.Errorf("the signature passes as the withdrawal of %s", what)
		}
	}
	if _, err := two.Without(map[string][]byte{two.Holders[0]: last}); err == nil {
		t.Error("one holder makes a sum")
	}
}
