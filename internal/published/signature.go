package published

import (
	"bytes"
	"encoding/json"

	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/canonical"
)

// This file holds the signature of a manifest.

// Signature is the office's signature of a manifest.
type Signature struct {
	Signer    sign.PublicKey `json:"signer"`
	Signature string         `json:"signature"` // purpose "manifest", over the bytes of manifest.json
}

const manifestPurpose = "manifest"

// ParseSignature parses the signature of a manifest and verifies it. With an error it returns what it could parse.
// Errors: *[Fault].
func ParseSignature(text, manifest []byte) (s Signature, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return Signature{}, Faultf(SignatureFile, "cannot be read: %v", err)
	}
	if again, err := canonical.Indented(s); err != nil || !bytes.Equal(again, text) {
		return Signature{}, Faultf(SignatureFile, "is not in the form in which it is written: it was edited")
	}
	if err := s.Signer.Verify(manifestPurpose, manifest, s.Signature); err != nil {
		return s, Faultf(SignatureFile, "does not fit manifest.json: %v; one of the two was changed", err)
	}
	return s, nil
}

// Sign returns an office's signature of the bytes of a manifest, as [SignatureFile] holds it.
func Sign(manifest []byte, office sign.Key) ([]byte, error) {
	return canonical.Indented(Signature{office.Public(), office.Sign(manifestPurpose, manifest)})
}
