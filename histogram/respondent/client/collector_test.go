package client_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// threeQuestions is what a collector of two sets and a permuted report asks.
func threeQuestions(t testing.TB, asks, epsilon, each string) *client.Collector {
	drugs := question(t, client.Set, each, column("faculty", 12), column("drug", 8))
	drugs.Name, drugs.Title = "drugs", "Drug by faculty"
	postcode := column("postcode", 1000)
	postcode.Title = "Post code < 1000 & co"
	used := client.Column{Name: "used", Title: "Used in the last month", Categories: []string{"no", "yes"},
		Labels: []string{"Nein, nie", "Ja – »öfter«"}}
	return collectorOf(asks, epsilon, question(t, client.Set, each, used), drugs,
		question(t, client.Permuted, each, postcode))
}

// TestHonestCollectorsAreAccepted reads randomisers as collectors choose them, whose probabilities are rounded down.
func TestHonestCollectorsAreAccepted(t *testing.T) {
	n := 0
	for _, epsilon := range []string{"1/1000", "1/7", "1/2", "1", "2", "22/7", "5", "71/10", "10",
		"999999999999/1000000000000"} {
		for _, k := range []int{2, 3, 4, 5, 8, 9, 100, 257, 512, 1000, 65537} {
			for _, form := range []string{client.Set, client.Permuted} {
				read(t, textOf(t, collectorOf(client.One, "10", question(t, form, epsilon, column("c", k)))))
				n++
			}
		}
	}
	read(t, textOf(t, threeQuestions(t, client.One, "1", "1")))
	read(t, textOf(t, threeQuestions(t, client.All, "3", "1")))
	t.Logf("%d randomisers", n)
}

// TestTooMuchIsRefused raises the probability of an honest randomiser as little as its ε shows: one step of 2^−48 above
// the largest that is allowed, and 2^−40 of the ratio.
func TestTooMuchIsRefused(t *testing.T) {
	for _, epsilon := range []string{"1/1000", "1", "3", "7"} {
		for _, k := range []int{2, 100, 1000} {
			q := question(t, client.Set, epsilon, column("c", k))
			q.Keep++
			e, _ := new(big.Rat).SetString(epsilon)
			r := local.Randomiser{Categories: q.Categories, Support: q.Support, Keep: q.Keep}
			_, err := client.Read([]byte(textOf(t, collectorOf(client.One, "10", q))))
			if want := r.Check(e); want == nil || err == nil ||
				!strings.Contains(err.Error(), "cost more than ε = "+epsilon) {
				t.Errorf("ε = %s, %d categories: %v, where the collector's own check says %v", epsilon, k, err, want)
			}
		}
	}
}

// TestFilesThatAreRefused changes a correct file in one place.
func TestFilesThatAreRefused(t *testing.T) {
	one := textOf(t, threeQuestions(t, client.One, "1", "1"))
	all := textOf(t, threeQuestions(t, client.All, "3", "1"))
	keep := threeQuestions(t, client.One, "1", "1").Questions[0].Keep
	for _, c := range []struct{ text, old, new, want string }{
		{one, `{`, `{,`, "invalid character"},
		{one, `"questions":[`, `"questions":`, "invalid character"},
		{one, `"format"`, `"Format"`, "each there once"},
		{one, `"release"`, `"note":"","release"`, "each there once"},
		{one, `"epsilon":"1",`, `"epsilon":"1","epsilon":"1",`, "each there once"},
		{one, `"release":"student-drugs-2026","collection":"answers"`,
			`"collection":"answers","release":"student-drugs-2026"`, "in the order"},
		{one, `dprelease.collector/1`, `dprelease.collector/2`,
			`"dprelease.collector/2", expected "dprelease.collector/1"`},
		{one, `student-drugs-2026`, ``, "must name a release"},
		{one, `"collection":"answers"`, `"collection":""`, "must name a release"},
		{one, `"asks":"one"`, `"asks":"some"`, `ask "one" or "all"`},
		{one, `"asks":"one"`, `"asks":"all"`, "chance that is impossible where devices answer all"},
		{all, `"asks":"all"`, `"asks":"one"`, "chance that is impossible where devices answer one"},
		{one, `"chance":93824992236885`, `"chance":93824992236884`, "do not sum to 2^48"},
		{one, `"chance":93824992236885`, `"chance":93824992236886`, "chance that is impossible"},
		{one, `"chance":93824992236885`, `"chance":-93824992236885`, "chance that is impossible"},
		{one, `"chance":93824992236885`, `"chance":9382499223688.5`, "cannot unmarshal number"},
		{one, `"chance":93824992236885`, `"chance":93824992236885000000`, "cannot unmarshal number"},
		{one, `"epsilon":"1","asks"`, `"epsilon":"1/2","asks"`, `"used" takes more than is left of ε = 1/2`},
		{all, `"epsilon":"3","asks"`, `"epsilon":"2","asks"`, `"postcode" takes more than is left of ε = 2`},
		{one, `"epsilon":"1","asks"`, `"epsilon":"1e0","asks"`, "not an integer or a fraction"},
		{one, `"epsilon":"1","asks"`, `"epsilon":"1e999999999","asks"`, "not an integer or a fraction"},
		{one, `"epsilon":"1","asks"`, `"epsilon":"2/2","asks"`, "not an integer or a fraction"},
		{one, `"epsilon":"1","asks"`, `"epsilon":"0","asks"`, "not an integer or a fraction"},
		{one, `"epsilon":"1","asks"`, `"epsilon":"-1","asks"`, "not an integer or a fraction"},
		{one, `"epsilon":"1","asks"`, `"epsilon":"11","asks"`, "at most 10"},
		{one, `"epsilon":"1","asks"`, `"epsilon":1,"asks"`, "cannot unmarshal number"},
		{one, `"epsilon":"1","form"`, `"epsilon":"1/0","form"`, `question "used": an ε is not`},
		{one, `"epsilon":"1","form"`, `"epsilon":"99/100","form"`, `"used": its reports cost more than ε = 99/100`},
		{one, `"name":"drugs"`, `"name":"used"`, `question 2 has no name of its own: "used"`},
		{one, `"name":"drugs"`, `"name":""`, `question 2 has no name of its own: ""`},
		{one, `"name":"drug"`, `"name":"faculty"`, `column "faculty" needs a name of its own`},
		{one, `"name":"drug"`, `"name":""`, `column "" needs a name of its own`},
		{one, `"name":"drug"`, `"name":"used"`, "the same in all questions"},
		{one, `["no","yes"]`, `["no","no"]`, "distinct categories"},
		{one, `["no","yes"]`, `["no"]`, "as many labels"},
		{one, `["no","yes"],"labels":["Nein, nie","Ja – »öfter«"]`, `["no"]`, "its columns have 1:"},
		{one, `["no","yes"],"labels":["Nein, nie","Ja – »öfter«"]`, `[]`, "distinct categories"},
		{one, `"categories":["no","yes"],"labels":["Nein, nie","Ja – »öfter«"]`, `"categories":[],"width":2`,
			"distinct categories"},
		{one, `"categories":["no","yes"],"labels":["Nein, nie","Ja – »öfter«"]`, `"categories":null,"width":2`,
			"distinct categories"},
		{one, `["Nein, nie",`, `[`, "as many labels"},
		{one, `"7"]}]`, `"7"],"points":1}]`, "2 to as many"},
		{one, `"7"]}]`, `"7"],"points":-2}]`, "2 to as many"},
		{one, `"7"]}]`, `"7"],"points":9}]`, "2 to as many"},
		{one, `"7"]}]`, `"7"],"points":0}]`, "each there once"},
		{one, `"7"]}]`, `"7"],"points":2}]`, "96 categories, where its columns have 24"},
		{one, `"11"]},`, `"11"],"points":2},`, "if it is the last"},
		{one, `"7"]}]`, `"7"],"width":1}]`, "a width of 2 or more"},
		{one, `"7"]}]`, `"7"],"width":-2}]`, "a width of 2 or more"},
		{one, `"7"]}]`, `"7"],"width":0}]`, "each there once"},
		{one, `"7"]}]`, `"7"],"points":2,"width":2}]`, "or neither"},
		{one, `"7"]}]`, `"7"],"width":3}]`, "96 categories, where its columns have 36"},
		{one, `"7"]}]`, `"7"],"length":3}]`, "only column of a question"},
		{one, `"categories":["no","yes"],"labels":["Nein, nie","Ja – »öfter«"]`, `"categories":null,"length":-3`,
			"only column of a question"},
		{one, `"categories":["no","yes"],"labels":["Nein, nie","Ja – »öfter«"]`, `"categories":null,"length":3`,
			"columns have 2147483647"},
		{one, `"categories":["no","yes"],"labels":["Nein, nie","Ja – »öfter«"]`,
			`"categories":null,"width":2,"length":3`, "only column of a question"},
		{one, `"form":"set"`, `"form":"list"`, `form "list"`},
		{one, `"categories":96`, `"categories":97`, "97 categories, where its columns have 96"},
		{one, `"categories":1009`, `"categories":1013`, "1013 categories"},
		{one, `"categories":1009`, `"categories":1000`, "1000 categories"},
		{one, `"support":1,`, `"support":0,`, "hold no or all"},
		{one, `"support":1,`, `"support":2,`, "hold no or all"},
		{one, `"support":1,`, `"support":-1,`, "hold no or all"},
		{one, fmt.Sprint(keep), "0", "never or always"},
		{one, fmt.Sprint(keep), "281474976710656", "never or always"},
		{one, fmt.Sprint(keep), "140737488355328", "say nothing"},
		{one, fmt.Sprint(keep), fmt.Sprint(keep + 1), "cost more than ε = 1"},
		{one, `]}`, `]}{}`, "invalid character"},
		{one, `öfter`, "\xff", "without needless escapes"},
		{one, `öfter`, `\u00f6fter`, "without needless escapes"},
		{one, `öfter`, `\ud800fter`, "without needless escapes"},
	} {
		text := strings.Replace(c.text, c.old, c.new, 1)
		if c.new == `]}{}` {
			text = c.text + "{}"
		}
		if text == c.text {
			t.Fatalf("%s is not in the file", c.old)
		}
		if _, err := client.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: %v, want %s", c.new, c.old, err, c.want)
		}
	}
	large := question(t, client.Set, "1", column("c", 1024), column("d", 1024))
	large.Columns[0] = column("c", 1025)
	if _, err := client.Read([]byte(textOf(t, collectorOf(client.One, "1", large)))); err == nil {
		t.Error("more than 2^20 categories are accepted")
	}
	if _, err := client.Read(nil); err == nil {
		t.Error("an empty file is accepted")
	}
}

// TestFormsOfTheSameFile reads a file with white space, and with the escapes of pages.
func TestFormsOfTheSameFile(t *testing.T) {
	c := threeQuestions(t, client.One, "1", "1")
	escaped, err := json.MarshalIndent(c, "", "\t")
	if err != nil || !strings.Contains(string(escaped), `\u003c`) {
		t.Fatalf("%v: no escapes in %s", err, escaped)
	}
	one, other := read(t, textOf(t, c)), read(t, string(escaped)+"\n")
	if one.ID() == other.ID() || len(one.ID()) != 16 || textOf(t, one) != textOf(t, other) {
		t.Errorf("%s and %s", one.ID(), other.ID())
	}
}

// FuzzRead reads any text: what is accepted is written as it was read, and every answer has valid reports.
func FuzzRead(f *testing.F) {
	for _, asks := range []string{client.One, client.All} {
		c := threeQuestions(f, asks, "3", "1")
		c.Questions = c.Questions[:2]
		if asks == client.One {
			c.Questions[0].Chance, c.Questions[1].Chance = 1, certain-1
		}
		f.Add(textOf(f, c))
	}
	f.Add(textOf(f, collectorOf(client.One, "1", question(f, client.Permuted, "1", column("c", 6)))))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := client.Read([]byte(text))
		if err != nil {
			return
		}
		if again := read(t, textOf(t, c)); textOf(t, again) != textOf(t, c) {
			t.Fatalf("%s is read differently", textOf(t, c))
		}
		answers := map[string]string{}
		for _, q := range c.Questions {
			for _, column := range q.Columns {
				answers[column.Name] = column.Categories[len(column.Categories)-1]
			}
		}
		memo := new(client.Memo)
		reports, err := c.Respond(answers, memo, nil)
		if err != nil || (c.Asks == client.One) != (len(reports) == 1) && len(c.Questions) > 1 {
			t.Fatalf("%d reports: %v", len(reports), err)
		}
		for _, r := range reports {
			for _, q := range c.Questions {
				if q.Name == r.Question && !q.Valid(r.Bytes) {
					t.Fatalf("question %q has report %x", q.Name, r.Bytes)
				}
			}
		}
	})
}
