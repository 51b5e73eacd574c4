package synth

import (
	"context"

	"github.com/dprelease/dprelease/internal/measured"
)

// Draw draws the first file of the rows of a method, after those of its parent.
func Draw(ctx context.Context, s *measured.Sealed, method int) (Microdata, error) {
	var before []Microdata
	if method >= 0 && method < len(s.Plan.Synthetic) {
		if at, ok := s.Plan.Parent(s.Plan.Synthetic[method]); ok && at < method {
			parent, err := Draw(ctx, s, at)
			if err != nil {
				return Microdata{}, err
			}
			before = append(make([]Microdata, at), parent)
		}
	}
	return Redraw(ctx, s, method, Request{EarlierMicrodata: before})
}

// Redraw draws the first file for these options.
func Redraw(ctx context.Context, s *measured.Sealed, method int, asked Request) (Microdata, error) {
	d, err := NewDrawing(ctx, s, method, asked)
	if err != nil {
		return Microdata{}, err
	}
	return d.Draw(ctx, 1)
}
