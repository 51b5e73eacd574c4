package answer

// This file holds Redacted, which keeps values out of everything that prints.

import (
	"fmt"
	"io"
	"log/slog"
)

const confidential = "confidential"

// Redacted, embedded in a type, makes every verb of package fmt, log/slog and encoding/json show "confidential".
type Redacted struct{}

// String returns "confidential".
func (Redacted) String() string { return confidential }

// Format writes "confidential" under every verb.
func (Redacted) Format(s fmt.State, _ rune) { io.WriteString(s, confidential) }

// LogValue returns "confidential".
func (Redacted) LogValue() slog.Value { return slog.StringValue(confidential) }

// MarshalJSON returns "confidential".
func (Redacted) MarshalJSON() ([]byte, error) { return []byte(`"` + confidential + `"`), nil }

// MarshalText returns "confidential".
func (Redacted) MarshalText() ([]byte, error) { return []byte(confidential), nil }
