package notes

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

// One figure is singular, in every language.
func TestOneFigureIsSingular(t *testing.T) {
	said := func(l *language.Language, unbounded, withheld int64) string {
		return strings.Join(figureSentences(l, []report.Table{{Cells: 9, Figures: []report.Figure{
			{Name: "pay_mean", Kind: "mean", Unbounded: unbounded, Withheld: withheld}}}}), " ")
	}
	for _, c := range []struct {
		unbounded, withheld int64
		in                  string
		want                []string
	}{
		{1, 1, "en", []string{"1 more is not published", "1 more is withheld", "count of its cell"}},
		{2, 3, "en", []string{"2 more are not published", "3 more are withheld"}},
		{1, 1, "de", []string{"1 weitere wird nicht veröffentlicht", "1 weitere wird zurückgehalten"}},
		{2, 3, "de", []string{"2 weitere werden nicht veröffentlicht", "3 weitere werden zurückgehalten"}},
	} {
		l := language.Of(c.in)
		for _, want := range c.want {
			if got := said(l, c.unbounded, c.withheld); !strings.Contains(got, want) {
				t.Errorf("%q is not in %q", want, got)
			}
		}
	}
}
