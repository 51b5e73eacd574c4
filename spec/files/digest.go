package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// This file holds the digest: what is noted of a public file, so that a plan says which bytes it was made from.

// Digest is the length in bytes and the SHA-256 in hexadecimal of what a public file holds.
type Digest struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// DigestText is the digest of a text.
func DigestText(text string) Digest {
	sum := sha256.Sum256([]byte(text))
	return Digest{Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
}

// DigestOf is the digest of what a reader gives. A context that ends, ends it.
func DigestOf(ctx context.Context, r io.Reader) (Digest, error) {
	h := sha256.New()
	n, err := io.Copy(h, interruptible{ctx, r})
	return Digest{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}
