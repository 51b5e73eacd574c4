package holder

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
)

// hashFor returns a plan hash.
func hashFor(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// holders returns the keys of n holders by name, and the roll of a plan with them.
func holders(t testing.TB, n int, plan string) (map[string]Key, Roll) {
	t.Helper()
	keys := map[string]Key{}
	for i := range n {
		key, err := NewKey()
		if err != nil {
			t.Fatal(err)
		}
		keys[fmt.Sprintf("holder %02d", i)] = key
	}
	return keys, rollOf(t, keys, plan)
}

// rollOf returns the roll of a plan and holders.
func rollOf(t testing.TB, keys map[string]Key, plan string) Roll {
	t.Helper()
	public := map[string]PublicKey{}
	for name, key := range keys {
		public[name] = key.Public()
	}
	roll, err := NewRoll(hashFor(plan), public)
	if err != nil {
		t.Fatal(err)
	}
	return roll
}

func masksOf(t testing.TB, roll Roll, key Key, holder string) *Masks {
	t.Helper()
	m, err := NewMasks(roll, key, holder)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// maskedBy returns a holder's masked copy of values.
func maskedBy(t testing.TB, roll Roll, key Key, holder, measurement string, values []uint64) []uint64 {
	t.Helper()
	values = slices.Clone(values)
	if err := masksOf(t, roll, key, holder).Mask([]byte(measurement), values); err != nil {
		t.Fatal(err)
	}
	return values
}
