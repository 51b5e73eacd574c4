package histogram

// This file holds the veil over values that nothing may print.

import (
	"fmt"
	"io"
	"log/slog"
)

const confidential = "confidential"

// veil, embedded in a type, makes every verb of package fmt, log/slog and
// encoding/json say "confidential".
type veil struct{}

// String says "confidential".
func (veil) String() string { return confidential }

// Format says "confidential" under every verb.
func (veil) Format(s fmt.State, _ rune) { io.WriteString(s, confidential) }

// LogValue says "confidential".
func (veil) LogValue() slog.Value { return slog.StringValue(confidential) }

// MarshalJSON says "confidential".
func (veil) MarshalJSON() ([]byte, error) { return []byte(`"` + confidential + `"`), nil }

// MarshalText says "confidential".
func (veil) MarshalText() ([]byte, error) { return []byte(confidential), nil }
