package noise

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func freshKey(t testing.TB) Key {
	t.Helper()
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyAndStreamsPrintAsConfidential(t *testing.T) {
	var key Key
	for i := range key {
		key[i] = 0xAB
	}
	streams := NewStreams(key, "plan")
	inner := struct {
		Key     Key
		Streams *Streams
		hidden  *Streams
		Rows    *RowStreams
	}{key, streams, streams, streams.Rows()}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d"} {
		fmt.Fprintf(&out, strings.Repeat(verb, 5)+"\n", key, &key, streams, streams.Rows(), inner)
	}
	text := slog.New(slog.NewTextHandler(&out, nil))
	text.Info("run", "key", key, "streams", streams, "rows", streams.Rows(), "inner", inner)
	document := slog.New(slog.NewJSONHandler(&out, nil))
	document.Info("run", "key", key, "streams", streams, "rows", streams.Rows(), "inner", inner)
	for _, value := range []any{key, streams, streams.Rows(), inner, map[Key]int{key: 1}} {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(data)
	}
	printed := strings.ToLower(out.String())
	// Bytes side by side: a single one may stand in an address or a time.
	// the last: as ToLower leaves raw bytes
	leaks := []string{"abababab", "171 171", "171,171", "0xab, 0xab", "\ufffd\ufffd"}
	for _, leak := range leaks {
		if strings.Contains(printed, leak) {
			t.Errorf("the key shows as %q in:\n%s", leak, printed)
		}
	}
	for _, verb := range []string{"%v", "%#v", "%s", "%x", "%X", "%d"} { // as plain bytes would
		plain := strings.ToLower(fmt.Sprintf(verb, [32]byte(key)))
		if !slices.ContainsFunc(leaks, func(leak string) bool { return strings.Contains(plain, leak) }) {
			t.Errorf("a leak as %q would not be found: %s", verb, plain)
		}
	}
	if !strings.Contains(printed, confidential) {
		t.Errorf("nothing says %q in:\n%s", confidential, printed)
	}
}

func TestKeysAreFreshAndCanBeErased(t *testing.T) {
	key, other := freshKey(t), freshKey(t)
	if key == other || key == (Key{}) {
		t.Error("two fresh keys are equal, or one is zero")
	}
	if key.Erase(); key != (Key{}) {
		t.Error("an erased key is not zero")
	}
	streams := NewStreams(other, "plan")
	rows := streams.Rows()
	if streams.Erase(); *streams.key != (Key{}) || rows.Key() != (RowKey{}) {
		t.Error("erased streams still hold the key")
	}
}

// firstWords identifies a stream: two streams that share 128 bits are one.
func firstWords(b *Bits) [2]uint64 { return [2]uint64{b.Uint64(), b.Uint64()} }

func TestStreamsDifferInEveryPart(t *testing.T) {
	key := freshKey(t)
	other := key
	other[31] ^= 1
	noiseOf := func(key Key, plan, definition, exact string, block int) [2]uint64 {
		return firstWords(NewStreams(key, plan).Noise([]byte(definition), []byte(exact), block))
	}
	streams := NewStreams(key, "plan")
	rows := streams.Rows()
	commitment := streams.Commitment([]byte("table"))
	seen := map[[2]uint64]string{}
	for _, s := range []struct {
		name  string
		words [2]uint64
	}{
		{"first", noiseOf(key, "plan", "definition", "exact", 0)},
		{"other key", noiseOf(other, "plan", "definition", "exact", 0)},
		{"other plan", noiseOf(key, "plan2", "definition", "exact", 0)},
		{"other definition", noiseOf(key, "plan", "definition2", "exact", 0)},
		{"other exact integers", noiseOf(key, "plan", "definition", "exact2", 0)},
		{"other block", noiseOf(key, "plan", "definition", "exact", 1)},
		{"block 256", noiseOf(key, "plan", "definition", "exact", 256)},
		{"parts shifted left", noiseOf(key, "plan", "definitione", "xact", 0)},
		{"parts shifted right", noiseOf(key, "pla", "ndefinition", "exact", 0)},
		{"empty cells", firstWords(streams.Empty([]byte("definition"), []byte("exact"), 0))},
		{"empty cells of another stretch", firstWords(streams.Empty([]byte("definition"), []byte("exact"), 1))},
		{"empty cells beside other integers", firstWords(streams.Empty([]byte("definition"), []byte("exact2"), 0))},
		{"bounding", firstWords(rows.Bounding("table"))},
		{"bounding another table", firstWords(rows.Bounding("table2"))},
		{"made-up rows", firstWords(rows.MadeUp("table"))},
		{"selection", firstWords(streams.Selection([]byte("definition"), []byte("exact"), 0))},
		{"selection of another definition", firstWords(streams.Selection([]byte("definition2"), []byte("exact"), 0))},
		{"selection by other scores", firstWords(streams.Selection([]byte("definition"), []byte("exact2"), 0))},
		{"selection in another round", firstWords(streams.Selection([]byte("definition"), []byte("exact"), 1))},
		{"selection in round 256", firstWords(streams.Selection([]byte("definition"), []byte("exact"), 256))},
		{"quantiles", firstWords(streams.Quantiles([]byte("definition"), []byte("exact"), 0))},
		{"quantiles of another definition", firstWords(streams.Quantiles([]byte("definition2"), []byte("exact"), 0))},
		{"quantiles of other values", firstWords(streams.Quantiles([]byte("definition"), []byte("exact2"), 0))},
		{"quantiles of another block", firstWords(streams.Quantiles([]byte("definition"), []byte("exact"), 1))},
		{"sampling", firstWords(rows.Sampling("table", 0))},
		{"sampling another table", firstWords(rows.Sampling("table2", 0))},
		{"sampling in another round", firstWords(rows.Sampling("table", 1))},
		{"sampling in round 256", firstWords(rows.Sampling("table", 256))},
		{"commitment as a key", firstWords(newBits(commitment))},
		{"key of kept answers as a key", firstWords(newBits(streams.Kept()))},
		{"key of collecting as a key", firstWords(newBits(streams.Collecting()))},
		{"row key as a key", firstWords(newBits(rows.Key().Key))},
		{"shards", firstWords(rows.Shards())},
		{"units", firstWords(newBits(rows.Units("table")))},
		{"units of another table", firstWords(newBits(rows.Units("table2")))},
		{"parts", firstWords(newBits(rows.Parts()))},
		{"stamp as a key", firstWords(newBits(rows.Stamp([]byte("table"))))},
		{"stamp of other questions as a key", firstWords(newBits(rows.Stamp([]byte("table2"))))},
	} {
		if twin, dup := seen[s.words]; dup {
			t.Errorf("%q and %q share a stream", s.name, twin)
		}
		seen[s.words] = s.name
	}
	if again := noiseOf(key, "plan", "definition", "exact", 0); seen[again] != "first" {
		t.Error("the same inputs gave two streams")
	}
	if again := firstWords(NewStreams(key, "plan").Selection([]byte("definition"), []byte("exact"),
		0)); seen[again] != "selection" {
		t.Error("the same selection gave two streams")
	}
	if again := firstWords(NewStreams(key, "plan").Rows().Sampling("table", 0)); seen[again] != "sampling" {
		t.Error("the same sample gave two streams")
	}
	if commitment != streams.Commitment([]byte("table")) ||
		commitment == NewStreams(other, "plan").Commitment([]byte("table")) {
		t.Error("a commitment is not a function of key and hash")
	}
}

// Whoever holds the streams of rows can ask them for nothing else, and finds the others in no field.
func TestRowStreamsDeriveNoNoise(t *testing.T) {
	of := reflect.TypeFor[*RowStreams]()
	var methods []string
	for i := range of.NumMethod() {
		methods = append(methods, of.Method(i).Name)
	}
	if want := []string{"Bounding", "Contents", "Erase", "Format", "Key", "LogValue", "MadeUp", "MarshalJSON", "Parts",
		"Sampling", "Shards", "Stamp", "Units"}; !slices.Equal(methods, want) {
		t.Errorf("they have the methods %q", methods)
	}
	for i := range of.Elem().NumField() {
		if f := of.Elem().Field(i); f.IsExported() {
			t.Errorf("they have a field %s", f.Name)
		}
	}
	key := freshKey(t)
	rows := NewStreams(key, "plan").Rows()
	if rows.Key().Key == key {
		t.Error("the row key is the release's key")
	}
	if own := NewRowStreams(rows.Key(),
		"plan"); firstWords(own.Bounding("table")) != firstWords(rows.Bounding("table")) {
		t.Error("the row key gives other streams than those that it was taken from")
	}
	if reflect.TypeFor[RowStreams]().ConvertibleTo(reflect.TypeFor[Streams]()) {
		t.Error("they can be converted to those that noise is drawn from")
	}
}

// TestStreamsAreFixedByTheirDefinition holds one derived stream: a change means
// that a release interrupted before it cannot resume after it.
func TestStreamsAreFixedByTheirDefinition(t *testing.T) {
	var key Key
	for i := range key {
		key[i] = byte(i)
	}
	stream := NewStreams(key, "plan").Noise([]byte("definition"), []byte("exact"), 7)
	got := binary.LittleEndian.AppendUint64(nil, stream.Uint64())
	got = binary.LittleEndian.AppendUint64(got, stream.Uint64())
	if want := "7993656e1c4e27b35666390cdbaacafd"; hex.EncodeToString(got) != want {
		t.Errorf("stream starts %x, want %s", got, want)
	}
}

func TestBitsAreTheKeystreamInOrder(t *testing.T) {
	key := [32]byte(freshKey(t))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 3*bufferBytes+8)
	cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(want, want)
	stream := newBits(key)
	for at := 0; at < len(want); at += 8 {
		if got := stream.Uint64(); got != binary.LittleEndian.Uint64(want[at:]) {
			t.Fatalf("the word at byte %d is not the keystream's", at)
		}
	}
}
