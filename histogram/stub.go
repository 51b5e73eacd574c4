package histogram

import (
	"context"
	"io"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
)

type Options struct {
	MemoryLimit int64 // bytes; 0: what the machine has free
	Workers     int   // 0: GOMAXPROCS, which is also the most
}
type Exact struct{}

func Count(ctx context.Context, p *plan.Plan, dataDir string, s *noise.Streams, opt Options) (*Exact, error) {
	return nil, nil
}
func CountMadeUp(ctx context.Context, p *plan.Plan, rows int64, s *noise.Streams) (*Exact, error) {
	return nil, nil
}
func (e *Exact) Commitment(s *noise.Streams) [32]byte                     { return [32]byte{} }
func (e *Exact) Open(r ledger.Receipt, s *noise.Streams) (*Opened, error) { return nil, nil }

type Opened struct{}

func (o *Opened) Measure(ctx context.Context, m plan.Measurement) (measured.Measured, error) {
	return measured.Measured{}, nil
}

type ContractError struct{ Table, Column, Kind string }

func (e *ContractError) Error() string                      { return "" }
func (e *ContractError) WriteDiagnostics(w io.Writer) error { return nil }

type MemoryError struct{ Need, Have int64 }

func (e *MemoryError) Error() string { return "" }
func Bytes(p *plan.Plan) int64       { return 0 }
