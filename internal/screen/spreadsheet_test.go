package screen

import "testing"

// Texts that a spreadsheet would run, and those that a terminal would obey, do neither; others are as they were.
func TestNoFormula(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "walk": "walk", "65+": "65+", "a=b": "a=b", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1",
		"@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\n=1": "'\n=1",
		"＝1": "'＝1", "\x1b[2J": `\x1b[2J`, "\r=1": `'\r=1`, "−1": "−1", "<10": "<10",
		"  =1": "'  =1", "\u00a0=1": "'\u00a0=1", "\u200b=1": `'\u200b=1`, "\"=1": "'\"=1", " walk": " walk",
		"﹦1": "'﹦1",
		"﹢1": "'﹢1", "﹣1": "'﹣1", "﹫x": "'﹫x",
		"a;=1+1": "a;'=1+1", "a; =1;b": "a;' =1;b", "a;b": "a;b", ";": ";",
	} {
		if got := NoFormula(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}
