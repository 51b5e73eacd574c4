package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// This file holds the digest of a public file, by which a plan records the bytes that it was made from.

// Digest is the length in bytes and the hexadecimal SHA-256 of the content of a public file.
type Digest struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// DigestText returns the digest of a text.
func DigestText(text string) Digest {
	sum := sha256.Sum256([]byte(text))
	return Digest{Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
}

// DigestOf returns the digest of a reader's content. It stops with an error when the context ends.
func DigestOf(ctx context.Context, r io.Reader) (Digest, error) {
	h := sha256.New()
	n, err := io.Copy(h, interruptible{ctx, r})
	return Digest{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}
