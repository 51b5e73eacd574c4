package sign

import (
	"encoding/json"
	"fmt"
	"github.com/dprelease/dprelease/internal/keyfile"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Keys of RFC 8410, section 10.
const (
	privateExample = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
`
	publicExample = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
`
)

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysAreThoseOfOpenssl(t *testing.T) {
	key, err := ReadKey(write(t, "key", privateExample, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	public, err := ReadPublicKey(write(t, "key.pub", publicExample, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	if key.Public() != public {
		t.Errorf("the public key is %s, expected %s", key.Public(), public)
	}
	if want := "ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE"; public.String() != want {
		t.Errorf("in one word: %s, want %s", public, want)
	}
}

func TestSignatures(t *testing.T) {
	dir := t.TempDir()
	public, err := Generate(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Generate(filepath.Join(dir, "a")); err == nil {
		t.Error("a key was written over")
	}
	other, err := Generate(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ReadKey(filepath.Join(dir, "a"))
	if err != nil || key.Public() != public {
		t.Fatalf("read back %v, %v", key, err)
	}
	s := key.Sign("entry", []byte("message"))
	if err := public.Verify("entry", []byte("message"), s); err != nil {
		t.Error(err)
	}
	flipped := []byte(s)
	flipped[10] ^= 1
	for name, err := range map[string]error{
		"message":   public.Verify("entry", []byte("messagf"), s),
		"purpose":   public.Verify("entri", []byte("message"), s),
		"key":       other.Verify("entry", []byte("message"), s),
		"no key":    PublicKey{}.Verify("entry", []byte("message"), s),
		"signature": public.Verify("entry", []byte("message"), string(flipped)),
		"none":      public.Verify("entry", []byte("message"), ""),
	} {
		if err == nil {
			t.Errorf("another %s was taken", name)
		}
	}
	var again PublicKey
	b, err := json.Marshal(public)
	if err == nil {
		err = json.Unmarshal(b, &again)
	}
	if err != nil || again != public {
		t.Errorf("through JSON: %v, %v", again, err)
	}
}

func TestASecretIsNotPrinted(t *testing.T) {
	key, err := ReadKey(write(t, "key", privateExample, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(key), fmt.Sprintf("%v %+v %#v %s", key, key, key, key)} {
		if strings.Contains(text, "212") || !strings.Contains(text, "ed25519:Gb9E") { // 0xd4, its first byte
			t.Errorf("a key prints as %s", text)
		}
	}
}

func TestWhatIsNoKey(t *testing.T) {
	for _, text := range []string{"", "ed25519:", "ed25519:AAAA", "rsa:AAAA", privateExample, publicExample +
		publicExample, strings.Repeat("x", keyfile.MaxBytes+1)} {
		if _, err := ReadPublicKey(write(t, "key.pub", text, 0o644)); err == nil {
			t.Errorf("%.40q is a public key", text)
		}
	}
	for _, text := range []string{"", publicExample, privateExample + "x",
		strings.Replace(privateExample, "MC4C", "MC4D",
			1)} {
		if _, err := ReadKey(write(t, "key", text, 0o600)); err == nil {
			t.Errorf("%.40q is a private key", text)
		}
	}
	if _, err := ReadKey(t.TempDir()); err == nil {
		t.Error("a folder is a private key")
	}
	if _, err := ReadKey(write(t, "key", privateExample, 0o644)); err == nil ||
		!strings.Contains(err.Error(), "others") {
		t.Errorf("a key that others read: %v", err)
	}
}
