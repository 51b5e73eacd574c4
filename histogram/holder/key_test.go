package holder

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestKeysAreReadAsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "aue")
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Write(path); err != nil {
		t.Fatal(err)
	}
	again, err := ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	public, err := ParsePublic(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if again.Public() != key.Public() || public != key.Public() || again.private().secret != key.private().secret {
		t.Error("the keys are others than were written")
	}
	if err := key.Write(path); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a key over a key: %v", err)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the private key has the mode %v, %v", info.Mode(), err)
		}
	}
	if len(public.Fingerprint()) != 39 {
		t.Errorf("the fingerprint is %q", public.Fingerprint())
	}
	var fromJSON PublicKey
	if b, err := json.Marshal(public); err != nil || json.Unmarshal(b, &fromJSON) != nil || fromJSON != public {
		t.Errorf("by way of JSON: %s, %v", b, err)
	}
}

func TestKeyFilesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(dir, "good")
	if err := key.Write(good); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, mode os.FileMode, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	private := func(path string) error { _, err := ReadKey(path); return err }
	public := func(path string) error {
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = ParsePublic(string(text))
		}
		return err
	}
	word := strings.TrimSpace(string(text))
	for name, c := range map[string]struct {
		read func(string) error
		path string
		want string
	}{
		"public for private": {private, good + ".pub", "is a public key"},
		"private for public": {public, good, "a holder's public key is one line"},
		"missing":            {private, filepath.Join(dir, "none"), "there is no such key file"},
		"folder":             {private, dir, "is not a key file"},
		"empty":              {private, write("empty", 0o600, ""), "is not a holder's private key"},
		"short":              {private, write("short", 0o600, word[:len(word)-2]), "is not a holder's private key"},
		"long":               {private, write("long", 0o600, word+"AAAA"), "is not a holder's private key"},
		"split": {private, write("split", 0o600, word[:40]+"\n"+word[40:]),
			"is not a holder's private key"},
		"zeros": {private, write("zeros", 0o600, privatePrefix+strings.Repeat("A", 43)),
			"a secret of zeros is no key"},
		"not a public key": {public, write("text", 0o644, "hello"), "a holder's public key is one line"},
	} {
		err := c.read(c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), word[len(privatePrefix):len(privatePrefix)+10]) {
			t.Errorf("%s: the message shows the secret", name)
		}
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(good, 0o640); err != nil {
			t.Fatal(err)
		}
		if err := private(good); err == nil || !strings.Contains(err.Error(), "can be read by others") {
			t.Errorf("a key that others can read: %v", err)
		}
	}
}

// TestPublicKeysOfLowOrderAreRefused parses the points of low order on Curve25519, and keys that are written in another
// way than their shortest.
func TestPublicKeysOfLowOrderAreRefused(t *testing.T) {
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	p := strings.Repeat("f", 60)
	for point, want := range map[string]string{
		strings.Repeat("0", 64):        "low order",
		"01" + strings.Repeat("0", 62): "low order",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800": "low order",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157": "low order",
		"ec" + p + "7f":                       "low order",
		"ed" + p + "7f":                       "not a number below",
		"ee" + p + "7f":                       "not a number below",
		"ff" + p + "ff":                       "not a number below",
		"09" + strings.Repeat("0", 60) + "80": "not a number below",
	} {
		b, err := hex.DecodeString(point)
		if err != nil {
			t.Fatal(err)
		}
		k := PublicKey{key.Public().signing, [halfBytes]byte(b)}
		if _, err := ParsePublic(k.String()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", point, err, want)
		}
	}
	text := key.Public().String()
	for _, bad := range []string{"", "x", text[1:], text[:len(text)-1],
		text + "A", text + "AAAA", text[:60] + "\n" + text[60:],
		text[:60] + "=" + text[61:], publicPrefix + base64.RawStdEncoding.EncodeToString(make([]byte, 32))} {
		if _, err := ParsePublic(bad); err == nil {
			t.Errorf("%q is read as a public key", bad)
		}
	}
	if k, err := ParsePublic(" " + text + "\n"); err != nil || k != key.Public() {
		t.Errorf("%v, %v", k, err)
	}
}

func TestKeysShowNothing(t *testing.T) {
	key, err := KeyOf([32]byte(bytes.Repeat([]byte{0xab}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	_, roll := holders(t, 2, "plan")
	roll.Keys[roll.Holders[0]] = key.Public()
	masks := masksOf(t, roll, key, roll.Holders[0])
	var secrets []string
	keys := key.private()
	for _, b := range [][]byte{keys.secret[:], keys.signing.Seed(), keys.agreeing.Bytes(), masks.pairs()[0].secret} {
		secrets = append(secrets, hex.EncodeToString(b[:8]), strings.ToUpper(hex.EncodeToString(b[:8])),
			base64.StdEncoding.EncodeToString(b[:9]), fmt.Sprint(b[:8])[1:20], string(b[:8]),
			strings.TrimSuffix(fmt.Sprintf("%#v", b[:6])[7:], "}"))
	}
	type within struct {
		key Key
		Key Key
		m   *Masks
	}
	for _, v := range []any{key, &key, masks, *masks, within{key, key, masks}, []Key{key}, map[string]any{"key": key}} {
		texts := []string{}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			texts = append(texts, fmt.Sprintf(verb, v))
		}
		b, err := json.Marshal(v)
		texts = append(texts, string(b), fmt.Sprint(err))
		for _, h := range []func(*bytes.Buffer) slog.Handler{
			func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(h(&b)).Info("a key", "value", v)
			texts = append(texts, b.String())
		}
		for i, text := range texts {
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%T, printing %d, shows a secret", v, i)
				}
			}
			switch v.(type) {
			case Key, *Key, *Masks, Masks:
				if !strings.Contains(text, "confidential") && text != "<nil>" {
					t.Errorf("%T, printing %d: %s", v, i, text)
				}
			}
		}
	}
}

func TestNoKeyDoesNothing(t *testing.T) {
	var key Key
	_, roll := holders(t, 2, "plan")
	if !key.Public().IsZero() || key.Public().String() != "" {
		t.Error("no key has a public key")
	}
	if err := key.Write(filepath.Join(t.TempDir(), "k")); err == nil {
		t.Error("no key is written")
	}
	if _, err := roll.Sign(key, roll.Holders[0], nil); err == nil {
		t.Error("no key signs")
	}
	if _, err := NewMasks(roll, key, roll.Holders[0]); err == nil {
		t.Error("no key makes masks")
	}
	if _, err := roll.SignShare(key, roll.Holders[0], hashFor("seal"), hashFor("seal")); err == nil {
		t.Error("no key signs a share")
	}
	if key.Public().verifies("roll", nil, make([]byte, 64)) {
		t.Error("no key verifies")
	}
}
