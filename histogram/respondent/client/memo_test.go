package client_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// students are the answers of a respondent to threeQuestions.
var students = map[string]string{"used": "yes", "faculty": "11", "drug": "3", "postcode": "42", "not asked": "x"}

// respond returns the reports of a device, whose memo is written and read again in between.
func respond(t *testing.T, c *client.Collector, answers map[string]string, memo *client.Memo) []client.Report {
	t.Helper()
	reports, err := read(t, textOf(t, c)).Respond(answers, memo, nil)
	if err != nil {
		t.Fatal(err)
	}
	again := new(client.Memo)
	if err := json.Unmarshal([]byte(textOf(t, memo)), again); err != nil {
		t.Fatal(err)
	}
	*memo = *again
	return reports
}

// with returns answers with another one.
func with(answers map[string]string, column, answer string) map[string]string {
	answers = maps.Clone(answers)
	answers[column] = answer
	return answers
}

// bytesOf returns what the randomiser drew, in all reports.
func bytesOf(reports []client.Report) (all string) {
	for _, r := range reports {
		all += r.Question + ":" + string(r.Bytes) + "\n"
	}
	return all
}

// laterVersions are versions of a file that define its questions as before.
func laterVersions(t *testing.T, asks string) []*client.Collector {
	titled := threeQuestions(t, asks, "3", "1")
	titled.Title, titled.Questions[0].Title, titled.Questions[1].Columns[0].Title = "Drugs", "Use", "Faculty"
	titled.Questions[0].Columns[0].Labels = nil
	moved := threeQuestions(t, asks, "3", "1")
	moved.Questions[0], moved.Questions[2] = moved.Questions[2], moved.Questions[0]
	more := collectorOf(asks, "10", append(threeQuestions(t, asks, "3", "1").Questions,
		question(t, client.Set, "1/2", column("age", 7)))...)
	if asks == client.One {
		moved.Questions[0].Chance, moved.Questions[1].Chance, moved.Questions[2].Chance = certain-2, 1, 1
	}
	return []*client.Collector{threeQuestions(t, asks, "3", "1"), titled, moved, more}
}

// TestSameAnswerHasTheSameReport asks the same again, in the same version of the file and in later ones.
func TestSameAnswerHasTheSameReport(t *testing.T) {
	for _, asks := range []string{client.One, client.All} {
		memo := new(client.Memo)
		first := respond(t, threeQuestions(t, asks, "3", "1"), students, memo)
		spent := map[string]string{client.One: "1", client.All: "3"}[asks]
		for i, c := range laterVersions(t, asks) {
			for _, r := range respond(t, c, with(students, "age", "0"), memo) {
				if r.Question == "age" {
					spent = "7/2"
				} else if !strings.Contains(bytesOf(first), r.Question+":"+string(r.Bytes)+"\n") {
					t.Errorf("asks %s, version %d: question %s has another report", asks, i, r.Question)
				}
				if !bytes.Equal(r.Token, first[0].Token) || r.Collector != read(t, textOf(t, c)).ID() {
					t.Errorf("asks %s, version %d: the report is %+v", asks, i, r)
				}
			}
			if memo.Spent() != spent {
				t.Errorf("asks %s, version %d: ε = %s is spent, want %s", asks, i, memo.Spent(), spent)
			}
		}
	}
}

// TestChangedAnswersCostAgain changes an answer and changes it back.
func TestChangedAnswersCostAgain(t *testing.T) {
	memo, c := new(client.Memo), threeQuestions(t, client.All, "3", "1")
	first := respond(t, c, students, memo)
	second := respond(t, c, with(students, "postcode", "43"), memo)
	if memo.Spent() != "4" || !bytes.Equal(first[1].Bytes, second[1].Bytes) ||
		bytes.Equal(first[2].Bytes, second[2].Bytes) {
		t.Errorf("ε = %s is spent, with reports %v and %v", memo.Spent(), first, second)
	}
	back := respond(t, c, students, memo)
	if memo.Spent() != "4" || bytesOf(back) != bytesOf(first) {
		t.Errorf("ε = %s is spent, with reports %v and %v", memo.Spent(), first, back)
	}
}

// TestChangedDefinitionsCostAgain changes what a report rests on.
func TestChangedDefinitionsCostAgain(t *testing.T) {
	for name, change := range map[string]func(q *client.Question){
		"epsilon":  func(q *client.Question) { *q = question(t, client.Permuted, "1/2", column("postcode", 1000)) },
		"size":     func(q *client.Question) { *q = question(t, client.Permuted, "1", column("postcode", 1001)) },
		"form":     func(q *client.Question) { *q = question(t, client.Set, "1", column("postcode", 1000)) },
		"name":     func(q *client.Question) { q.Name = "codes" },
		"keep":     func(q *client.Question) { q.Keep-- },
		"column":   func(q *client.Question) { q.Columns[0].Name = "code" },
		"category": func(q *client.Question) { q.Columns[0].Categories[999] = "none" },
	} {
		memo, c := new(client.Memo), threeQuestions(t, client.All, "3", "1")
		first := respond(t, c, students, memo)
		change(&c.Questions[2])
		second := respond(t, c, with(students, "code", "42"), memo)
		if memo.Spent() == "3" || bytes.Equal(first[2].Bytes, second[2].Bytes) ||
			!bytes.Equal(first[0].Bytes, second[0].Bytes) {
			t.Errorf("%s: ε = %s is spent, with reports %v and %v", name, memo.Spent(), first, second)
		}
	}
}

// TestQuestionsAreDrawnOnce draws a question, which is kept while it is asked, and drawn anew when it is not.
func TestQuestionsAreDrawnOnce(t *testing.T) {
	drawn := map[string]int{}
	for range 60 {
		memo, c := new(client.Memo), threeQuestions(t, client.One, "1", "1")
		name := respond(t, c, students, memo)[0].Question
		drawn[name]++
		for _, answers := range []map[string]string{students, with(students, "used", "no"),
			with(students, "drug", "7")} {
			if reports := respond(t, c, answers, memo); len(reports) != 1 || reports[0].Question != name {
				t.Fatalf("question %s was drawn, and then %v", name, reports)
			}
		}
		var others []client.Question
		for _, q := range c.Questions {
			if q.Name != name {
				others = append(others, q)
			}
		}
		fewer := collectorOf(client.One, "1", others...)
		other := respond(t, fewer, students, memo)[0].Question
		if other == name || respond(t, fewer, students, memo)[0].Question != other ||
			respond(t, c, students, memo)[0].Question != other {
			t.Errorf("question %s is not asked any more, and %s is drawn", name, other)
		}
	}
	if len(drawn) != 3 { // which fails by chance once in 10^10 runs
		t.Errorf("drawn were %v", drawn)
	}
}

// TestDrawnQuestionDoesNotDependOnAnswers feeds the same bytes to devices with different answers.
func TestDrawnQuestionDoesNotDependOnAnswers(t *testing.T) {
	c := read(t, textOf(t, threeQuestions(t, client.One, "1", "1")))
	for _, x := range []int64{0, certain / 2, certain - 1} {
		random := append(append(make([]byte, 16), six(x)...), stream("drawn", 400)...)
		names := map[string]bool{}
		for _, answers := range []map[string]string{students, with(students, "used", "no"), with(students, "drug", "7"),
			with(students, "postcode", "999"), with(students, "faculty", "0")} {
			reports, err := c.Respond(answers, new(client.Memo), bytes.NewReader(random))
			if err != nil {
				t.Fatal(err)
			}
			names[reports[0].Question] = true
		}
		if len(names) != 1 {
			t.Errorf("%d of 2^48 draws %v", x, names)
		}
	}
}

// noBytes fails the test if it is read.
type noBytes struct{ t *testing.T }

func (n noBytes) Read([]byte) (int, error) {
	n.t.Error("bytes were drawn")
	return 0, io.EOF
}

// TestAnswersThatAreNone gives wrong answers, also to questions that the device did not draw. The error names the
// column and its categories, but not the answer, and nothing is drawn.
func TestAnswersThatAreNone(t *testing.T) {
	for _, asks := range []string{client.One, client.All} {
		c, memo := threeQuestions(t, asks, "3", "1"), new(client.Memo)
		respond(t, c, students, memo)
		before := textOf(t, memo)
		for column, want := range map[string]string{"used": `["no" "yes"]`, "drug": "8 categories",
			"postcode": `"19"]`} {
			for _, answer := range []string{"SECRET", "", "Yes", " yes"} {
				_, err := read(t, textOf(t, c)).Respond(with(students, column, answer), memo, noBytes{t})
				if err == nil || !strings.Contains(err.Error(), `"`+column+`"`) ||
					!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") ||
					len(err.Error()) > 400 {
					t.Errorf("%s: %v", column, err)
				}
			}
			missing := maps.Clone(students)
			delete(missing, column)
			if _, err := read(t, textOf(t, c)).Respond(missing, new(client.Memo), noBytes{t}); err == nil {
				t.Errorf("%s may be missing", column)
			}
		}
		if textOf(t, memo) != before {
			t.Error("the memo changed")
		}
	}
}

// TestMemosOfOtherCollections uses the memo of another collection, and none.
func TestMemosOfOtherCollections(t *testing.T) {
	memo, c := new(client.Memo), threeQuestions(t, client.One, "1", "1")
	respond(t, c, students, memo)
	c.Release = "student-drugs-2027"
	if _, err := c.Respond(students, new(client.Memo), noBytes{t}); err == nil {
		t.Error("a collector that nobody read is answered")
	}
	for _, m := range []*client.Memo{nil, memo} {
		if _, err := read(t, textOf(t, c)).Respond(students, m, noBytes{t}); err == nil ||
			!strings.Contains(err.Error(), "separate memo for each collection") {
			t.Errorf("%v", err)
		}
	}
}

// TestFailingGenerators ends the random bytes at every place: no report is made and the memo does not change.
func TestFailingGenerators(t *testing.T) {
	c := read(t, textOf(t, threeQuestions(t, client.All, "3", "1")))
	random := stream("failing", 400)
	used := len(random)
	for n := range random {
		memo := new(client.Memo)
		reports, err := c.Respond(students, memo, bytes.NewReader(random[:n]))
		if err == nil {
			used = n
			break
		}
		if reports != nil || textOf(t, memo) != textOf(t, new(client.Memo)) || !strings.Contains(err.Error(), "ended") {
			t.Fatalf("after %d bytes: %v, %s, %v", n, reports, textOf(t, memo), err)
		}
	}
	if used < 60 || used == len(random) {
		t.Errorf("%d bytes are used", used)
	}
	if _, err := c.Respond(students, new(client.Memo), io.MultiReader(oneByOne(random)...)); err != nil {
		t.Error(err)
	}
}

// oneByOne returns a reader of each byte.
func oneByOne(b []byte) (all []io.Reader) {
	for i := range b {
		all = append(all, bytes.NewReader(b[i:i+1]))
	}
	return all
}

// TestDamagedMemos changes the text of a memo. Errors say nothing of what is in it.
func TestDamagedMemos(t *testing.T) {
	memo := new(client.Memo)
	respond(t, threeQuestions(t, client.One, "1", "1"), students, memo)
	text := textOf(t, memo)
	token := textOf(t, memo.Token)
	for _, c := range [][2]string{
		{token, `""`}, {token, `"00"`}, {token, `"SECRET"`}, {`"epsilon":"1"`, `"epsilon":"0"`},
		{`"epsilon":"1"`, `"epsilon":"SECRET"`}, {`"report":"`, `"report":"0`}, {`"report"`, `"SECRET":1,"report"`},
		{`"release"`, `"Release"`}, {`}}}`, `}}`}, {`{"release"`, `{"drawn":"","release"`}, {text, ``}, {text, `null`},
	} {
		changed := strings.Replace(text, c[0], c[1], 1)
		err := json.Unmarshal([]byte(changed), new(client.Memo))
		if changed == text || err == nil && changed != "null" || err != nil && strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", changed, err)
		}
	}
	if err := json.Unmarshal([]byte(textOf(t, new(client.Memo))), new(client.Memo)); err != nil {
		t.Errorf("a new memo: %v", err)
	}
}

// TestDamagedReportsAreNotSent keeps a report in a memo that no device draws: it is not sent, and the memo stays as it
// is.
func TestDamagedReportsAreNotSent(t *testing.T) {
	c, memo := read(t, textOf(t, threeQuestions(t, client.All, "3", "1"))), new(client.Memo)
	respond(t, c, students, memo)
	for key, kept := range memo.Reports {
		sound := kept.Report
		kept.Report = append(slices.Clone(sound), 0)
		memo.Reports[key] = kept
		before := textOf(t, memo)
		if reports, err := c.Respond(students, memo, nil); err == nil || !strings.Contains(err.Error(), "damaged") ||
			textOf(t, memo) != before {
			t.Errorf("%v, %v", reports, err)
		}
		kept.Report = sound
		memo.Reports[key] = kept
	}
}
