package answer

// This file holds Redacted, which keeps values out of everything that prints.

import (
	"fmt"
	"io"
	"log/slog"
)

const confidential = "confidential"

// Redacted, embedded in a type, makes every verb of package fmt, log/slog and
// encoding/json say "confidential".
type Redacted struct{}

// String says "confidential".
func (Redacted) String() string { return confidential }

// Format says "confidential" under every verb.
func (Redacted) Format(s fmt.State, _ rune) { io.WriteString(s, confidential) }

// LogValue says "confidential".
func (Redacted) LogValue() slog.Value { return slog.StringValue(confidential) }

// MarshalJSON says "confidential".
func (Redacted) MarshalJSON() ([]byte, error) { return []byte(`"` + confidential + `"`), nil }

// MarshalText says "confidential".
func (Redacted) MarshalText() ([]byte, error) { return []byte(confidential), nil }
