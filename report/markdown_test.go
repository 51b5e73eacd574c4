package report_test

// This file tests report.md: texts of a spec never become markup.

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report/page"
)

func TestMarkdownEscapesHostileTexts(t *testing.T) {
	text := string(page.Markdown(hostileReport(t,
		"</b> <script>x</script> | a || b [x](y) *em* _em_ a_b ~~~ ```\n# heading\n\n| c | d |\n"+
			"``` R&D &lt;b&#62; &&#x2a;")))
	written, spec, found := strings.Cut(text, "\n````yaml\n")
	if !found || strings.Count(spec, "\n````\n") != 1 {
		t.Error("the spec ends its own fence")
	}
	for _, markup := range []string{"<script", "</b>", "\n# heading", " [x](", " *em", " _em", "a\\_b"} {
		if strings.Contains(written, markup) {
			t.Errorf("the text holds %q", markup)
		}
	}
	if !strings.Contains(written, "R&D &amp;lt;b&amp;#62; &&amp;#x2a;") {
		t.Error("an ampersand does not stand where it stands for itself, or starts a character reference")
	}
	parts := regexp.MustCompile(`(^|[^\\])\|`)
	columns := 0
	for _, line := range strings.Split(written, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := len(parts.FindAllString(line, -1))
		if columns != 0 && n != columns {
			t.Errorf("%d bars in a table of %d: %s", n, columns, line)
		}
		columns = n
	}
}
