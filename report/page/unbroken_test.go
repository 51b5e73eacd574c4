package page

import "testing"

// Small numbers are marked up in the text of a page, and nowhere else.
func TestSmallNumbersAreNotBroken(t *testing.T) {
	const begin, end = `<span class="unbroken">`, "</span>"
	const marked = begin + "1e-9" + end
	for page, want := range map[string]string{
		"<p>δ = 1e-9.</p>":                        "<p>δ = " + marked + ".</p>",
		`<p title="1e-9">name-9, line-9</p>`:      `<p title="1e-9">name-9, line-9</p>`,
		"<head><title>1e-9</title></head><p>1e-9": "<head><title>1e-9</title></head><p>" + marked,
		"<pre>1e-9</pre><p>1e-9</p><svg><desc>1e-9</desc></svg>": "<pre>1e-9</pre><p>" +
			marked + "</p><svg><desc>1e-9</desc></svg>",
		"<svg><text>1e-9</text><svg></svg><text>1e-9</text></svg>1e-9": "<svg><text>1e-9</text><svg></svg>" +
			"<text>1e-9</text></svg>" + marked,
		"<td>1.25e-12</td><td>1,25e-12</td>": "<td>" + begin + "1.25e-12" + end + "</td><td>" + begin + "1,25e-12" +
			end + "</td>",
	} {
		if got := string(unbroken([]byte(page))); got != want {
			t.Errorf("%s becomes %s, want %s", page, got, want)
		}
	}
}
