package seal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func keyFor(t testing.TB, first byte) Key {
	t.Helper()
	key, err := KeyOf([32]byte{1: first})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sealed(t testing.TB, text []byte, to PublicKey, bound string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, to, []byte(bound))
	if err != nil {
		t.Fatal(err)
	}
	for some := range bytes.SplitAfterSeq(text, []byte("0")) { // in uneven pieces
		if _, err := w.Write(some); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func opened(b []byte, key Key, bound string) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(b), key, []byte(bound))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Bytes of every length are opened by the right key, and their seals show nothing of them.
func TestOnlyTheRightKeyOpens(t *testing.T) {
	key, other := keyFor(t, 1), keyFor(t, 2)
	for _, n := range []int{0, 1, 100, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3*pieceBytes + 7} {
		text := bytes.Repeat([]byte("persons: 7319 0"), n/15+1)[:n]
		b := sealed(t, text, key.Public(), "a plan")
		if got, err := opened(b, key, "a plan"); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("of %d bytes %d are opened, %v", n, len(got), err)
		}
		if n > 99 && bytes.Contains(b, []byte("7319")) {
			t.Error("the sealed bytes hold the text")
		}
		for name, open := range map[string]func() ([]byte, error){
			"another key":     func() ([]byte, error) { return opened(b, other, "a plan") },
			"another purpose": func() ([]byte, error) { return opened(b, key, "another plan") },
		} {
			if _, err := open(); !errors.Is(err, ErrOpen) {
				t.Errorf("%s, %d bytes: %v", name, n, err)
			}
		}
	}
}

// Sealed bytes that are changed, cut short, longer or in another order are not opened as whole.
func TestChangedSealsAreFound(t *testing.T) {
	key := keyFor(t, 1)
	text := bytes.Repeat([]byte("0123456789"), 60_000) // three pieces
	b := sealed(t, text, key.Public(), "a plan")
	piece := 4 + 1 + pieceBytes + tagBytes
	swapped := bytes.Clone(b)
	copy(swapped[32:], b[32+piece:32+2*piece])
	copy(swapped[32+piece:], b[32:32+piece])
	cases := map[string][]byte{"longer": append(bytes.Clone(b), 0), "swapped": swapped, "empty": {},
		"a piece less": slicesWithout(b, 32+piece, 32+2*piece), "the last piece gone": b[:32+2*piece]}
	for _, at := range []int{0, 31, 32, 36, 37, 32 + piece, len(b) - 1} {
		flipped := bytes.Clone(b)
		flipped[at] ^= 1
		cases["bit flipped at "+string(rune('a'+len(cases)))] = flipped
	}
	for _, n := range []int{1, 31, 32, 33, 36, 100, len(b) - 1} {
		cases["cut at "+string(rune('a'+len(cases)))] = b[:n]
	}
	for name, changed := range cases {
		if _, err := opened(changed, key, "a plan"); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func slicesWithout(b []byte, from, to int) []byte { return append(bytes.Clone(b[:from]), b[to:]...) }

// Keys are read from the files that are written, and the wrong file is named as such.
func TestKeyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "machine")
	public, err := Generate(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ReadKey(path)
	if err != nil || key.Public() != public {
		t.Fatalf("%v, %v", key, err)
	}
	read, err := ReadPublicKey(path + ".pub")
	if err != nil || read != public {
		t.Errorf("%v, %v", read, err)
	}
	if again, err := ParsePublicKey(public.String()); err != nil || again != public {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := Generate(path); err == nil {
		t.Error("a key was replaced")
	}
	for name, c := range map[string]struct {
		err  func() error
		want string
	}{
		"public for private": {func() error { _, err := ReadKey(path + ".pub"); return err }, "is a public key"},
		"private for public": {func() error { _, err := ReadPublicKey(path); return err }, "is a private key"},
		"none":               {func() error { _, err := ReadKey(path + "2"); return err }, "dprelease machine-key"},
		"a word":             {func() error { _, err := ParsePublicKey("x25519:abc"); return err }, "43 characters"},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(path); err == nil {
		t.Error("a private key that others can read is read")
	}
}
