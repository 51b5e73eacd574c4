package holder

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMasksCancel adds the masked values of 2 to 50 holders, of sizes around a block.
func TestMasksCancel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 19, 32, 50} {
		keys, roll := holders(t, n, "plan")
		masks := map[string]*Masks{}
		for name, key := range keys {
			masks[name] = masksOf(t, roll, key, name)
		}
		for _, cells := range []int{0, 1, blockWords - 1, blockWords, 2*blockWords + 3} {
			want, got := make([]uint64, cells), make([]uint64, cells)
			for _, m := range masks {
				values := make([]uint64, cells)
				for i := range values {
					values[i] = uint64(random.Int64N(1<<40) - 1<<39)
					want[i] += values[i]
				}
				if err := m.Mask([]byte{byte(cells), byte(cells >> 8)}, values); err != nil {
					t.Fatal(err)
				}
				for i, v := range values {
					got[i] += v
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d holders, %d cells: the masks do not cancel", n, cells)
			}
		}
	}
}

// TestKeysAndMasksEqualAnotherImplementation compares keys, rolls, signatures and masks with testdata/vectors.py.
func TestKeysAndMasksEqualAnotherImplementation(t *testing.T) {
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		PlanHash    string `json:"plan_hash"`
		RollHash    string `json:"roll_hash"`
		Measurement string
		Cells       int
		Holders     []struct {
			Name, Secret, Public string
			Masked               string `json:"masked_zeros_sha256"`
			Signature            string `json:"roll_signature"`
		}
	}
	if err := json.Unmarshal(b, &vectors); err != nil {
		t.Fatal(err)
	}
	public, keys := map[string]PublicKey{}, map[string]Key{}
	for _, h := range vectors.Holders {
		secret, err := hex.DecodeString(h.Secret)
		if err != nil {
			t.Fatal(err)
		}
		key, err := KeyOf([32]byte(secret))
		if err != nil || key.Public().String() != h.Public {
			t.Fatalf("the key of %s is %s, %v", h.Name, key.Public(), err)
		}
		public[h.Name], keys[h.Name] = key.Public(), key
	}
	roll, err := NewRoll(vectors.PlanHash, public)
	if err != nil || roll.Hash() != vectors.RollHash {
		t.Fatalf("the roll is %s, %v", roll.Bytes(), err)
	}
	for _, h := range vectors.Holders {
		var words []byte
		for _, v := range maskedBy(t, roll, keys[h.Name], h.Name, vectors.Measurement, make([]uint64, vectors.Cells)) {
			words = binary.LittleEndian.AppendUint64(words, v)
		}
		if sum := sha256.Sum256(words); hex.EncodeToString(sum[:]) != h.Masked {
			t.Errorf("the masks of %s differ", h.Name)
		}
		signature, err := roll.Sign(keys[h.Name], h.Name, nil)
		if err != nil || hex.EncodeToString(signature) != h.Signature {
			t.Errorf("the signature of %s differs: %v", h.Name, err)
		}
	}
}

// TestStreamsAreOfOneUse fails if two streams are equal of any rolls, plans, measurements and pairs.
func TestStreamsAreOfOneUse(t *testing.T) {
	keys, roll := holders(t, 5, "plan")
	fewer, renamed, swapped := map[string]Key{}, map[string]Key{}, map[string]Key{}
	for i, name := range roll.Holders {
		if i > 0 {
			fewer[name] = keys[name]
		}
		renamed[name+"'"] = keys[name]
		swapped[name] = keys[roll.Holders[(i+1)%5]]
	}
	seen := map[string]string{}
	for what, c := range map[string]struct {
		keys map[string]Key
		plan string
	}{"roll": {keys, "plan"}, "plan": {keys, "another plan"}, "fewer": {fewer, "plan"}, "renamed": {renamed, "plan"},
		"swapped": {swapped, "plan"}} {
		roll := rollOf(t, c.keys, c.plan)
		for _, name := range roll.Holders {
			m := masksOf(t, roll, c.keys[name], name)
			for _, measurement := range []string{"", "a", "b", "ab", "a\x00"} {
				streams, err := m.streams([]byte(measurement))
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range streams {
					p := m.pairs()[i]
					id := fmt.Sprintf("%s, %s and %s, %q", what, p.first, p.second, measurement)
					b := make([]byte, 32)
					s.keystream.XORKeyStream(b, b)
					if other, ok := seen[string(b)]; ok && other != id {
						t.Errorf("one stream: %s; %s", id, other)
					}
					seen[string(b)] = id
				}
			}
		}
	}
	if want := (4*10 + 6) * 5; len(seen) != want {
		t.Errorf("there are %d streams, want %d", len(seen), want)
	}
}

// TestPartsOfInfoDoNotRun fails if parts of HKDF's info that run together make one stream.
func TestPartsOfInfoDoNotRun(t *testing.T) {
	p := pair{first: "a", second: "bc", secret: make([]byte, 32)}
	q := pair{first: "ab", second: "c", secret: make([]byte, 32)}
	x, y := make([]byte, 32), make([]byte, 32)
	for b, p := range map[*[]byte]pair{&x: p, &y: q} {
		s, err := p.keystream("plan", "roll", []byte("m"))
		if err != nil {
			t.Fatal(err)
		}
		s.XORKeyStream(*b, *b)
	}
	if bytes.Equal(x, y) {
		t.Error("other names have the same stream")
	}
}

func TestMasksThatAreRefused(t *testing.T) {
	keys, roll := holders(t, 4, "plan")
	a, b := roll.Holders[0], roll.Holders[1]
	for want, err := range map[string]error{
		"not the one that the roll has": second(NewMasks(roll, keys[b], a)),
		"no holder":                     second(NewMasks(roll, keys[a], "nobody")),
		"plan hash":                     second(NewMasks(Roll{}, keys[a], a)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	m := masksOf(t, roll, keys[a], a)
	for _, large := range []int64{1 << 60, -1 << 60, 1<<63 - 1, -1 << 63} {
		values := []uint64{5, uint64(large)}
		err := m.Mask([]byte("m"), values)
		if err == nil || !strings.Contains(err.Error(), "too large") || strings.ContainsAny(err.Error(), "15689") {
			t.Errorf("a large value: %v", err)
		}
		if !slices.Equal(values, []uint64{5, uint64(large)}) {
			t.Error("values that were refused have changed")
		}
	}
	most := int64(1<<60 - 1)
	if err := m.Mask([]byte("m"), []uint64{uint64(most), uint64(-most)}); err != nil {
		t.Errorf("the largest values: %v", err)
	}
	values := []uint64{7}
	err := m.Mask([]byte("m"), values)
	if err == nil || !strings.Contains(err.Error(), "masked already") || values[0] != 7 {
		t.Errorf("a measurement again: %v", err)
	}
	low := roll
	low.Keys = map[string]PublicKey{a: keys[a].Public(), b: {keys[b].Public().signing, [32]byte{1}},
		roll.Holders[2]: roll.Keys[roll.Holders[2]], roll.Holders[3]: roll.Keys[roll.Holders[3]]}
	if _, err := NewMasks(low, keys[a], a); err == nil || !strings.Contains(err.Error(), "low order") {
		t.Errorf("a key of low order: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
