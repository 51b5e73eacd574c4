package releasetest

import (
	"context"
	"log/slog"
)

// LogThat returns a logger that calls a function with every message.
func LogThat(hear func(message string)) *slog.Logger {
	return slog.New(listener(hear))
}

// listener is a log handler that passes on the messages.
type listener func(message string)

func (l listener) Enabled(context.Context, slog.Level) bool { return true }

func (l listener) Handle(_ context.Context, r slog.Record) error {
	l(r.Message)
	return nil
}

func (l listener) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l listener) WithGroup(string) slog.Handler { return l }
