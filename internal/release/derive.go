package release

import (
	"context"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/report"
)

// Derive writes into a folder everything that is published of sealed measurements and the record of their debit; m says which
// publication it is, and built what the program was built from. It makes nothing durable and signs nothing: whoever holds a published
// folder against its measurements compares.
func Derive(ctx context.Context, dir string, s *measured.Sealed, record ledger.Record, m published.Manifest, built []report.Module) error {
	return writeRelease(ctx, newStaging(dir), s, record, m, built)
}
