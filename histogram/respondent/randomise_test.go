package respondent

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/parquet-go/parquet-go"
)

// randomised returns the reports to answers in a CSV text.
func randomised(t *testing.T, c *client.Collector, answers, id string, memos Memos) ([]anyRow, error) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	n, err := Randomise(context.Background(), c, strings.NewReader(answers), id, memos, w, nil)
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[anyRow](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || int64(len(rows)) != n {
		t.Fatalf("%d reports, %d rows: %v", n, len(rows), err)
	}
	return rows, nil
}

// sentBefore is what a row says.
func (r anyRow) sentBefore() string {
	return *r.Collector + hex.EncodeToString(*r.Token) + *r.Question + hex.EncodeToString(*r.Report)
}

// wide is a question of so many categories that two reports differ: each has one of more than 2^200 contents.
const wide = 512

// TestMemosKeepReports answers again: the same answer has the same report, and another answer another one with the same
// token, also after memos were written and read.
func TestMemosKeepReports(t *testing.T) {
	c := collectorOf(t, planOf(t, specOf("epsilon: 1, expect: 100000", wide)))
	memos := Memos{}
	const answers = "who,c512\nann,1\nbob,2\ncho,3\n"
	first, err := randomised(t, c, answers, "who", memos)
	if err != nil || len(first) != 3 || len(memos) != 3 {
		t.Fatalf("%d reports, %v", len(first), err)
	}
	var b bytes.Buffer
	if err := memos.Write(&b); err != nil {
		t.Fatal(err)
	}
	written := b.String()
	if memos, err = ReadMemos(&b); err != nil || len(memos) != 3 {
		t.Fatalf("%v, %v", memos, err)
	}
	second, err := randomised(t, c, "c512,note,who\n3,x,cho\n2,y,bob\n7,z,ann\n1,z,ann\n9,,dee\n", "who", memos)
	if err != nil || len(second) != 5 {
		t.Fatalf("%d reports, %v", len(second), err)
	}
	for i, want := range []struct {
		row    int
		report bool
	}{{2, true}, {1, true}, {0, false}, {0, true}} {
		before := first[want.row]
		if got := second[i].sentBefore() == before.sentBefore(); got != want.report ||
			!bytes.Equal(*second[i].Token, *before.Token) {
			t.Errorf("report %d: the same %t, want %t", i, got, want.report)
		}
	}
	for i, r := range second {
		if i < 4 && bytes.Equal(*r.Token, *second[4].Token) {
			t.Error("two respondents have one token")
		}
	}
	b.Reset()
	ann, bob := memos["ann"].Spent(), memos["bob"].Spent()
	if err := memos.Write(&b); err != nil || b.String() == written || ann != "2" || bob != "1" {
		t.Errorf("memos after another answer: %v, ann has lost %s, bob %s", err, ann, bob)
	}
}

// TestLinesWithoutAnIDAreRespondents answers twice without a column that identifies respondents.
func TestLinesWithoutAnIDAreRespondents(t *testing.T) {
	c := collectorOf(t, planOf(t, specOf("epsilon: 1, expect: 100000", wide)))
	rows, err := randomised(t, c, "c512\n1\n1\n1\n", "", nil)
	if err != nil || len(rows) != 3 || rows[0].sentBefore() == rows[1].sentBefore() ||
		bytes.Equal(*rows[1].Token, *rows[2].Token) {
		t.Errorf("%d reports, %v", len(rows), err)
	}
}

// TestAnswersThatAreNone randomises files with a fault. The error names the column, and no answer.
func TestAnswersThatAreNone(t *testing.T) {
	c := collectorOf(t, planOf(t, specOf("epsilon: 1, expect: 100000", 2, 3)))
	for _, a := range []struct{ what, answers, id, says string }{
		{"an answer that is none", "c2,c3\n1,1\n1," + canary + "\n", "", `column "c3"`},
		{"an answer to a question that is rarely drawn", "c2,c3\n" + canary + ",1\n", "", `column "c2"`},
		{"an empty answer", "c2,c3\n1,\n", "", `column "c3"`},
		{"no column", "c2\n1\n", "", `column "c3"`},
		{"no id", "c2,c3\n1,1\n", "who", `no column "who"`},
		{"a short line", "c2,c3\n1,1\n" + canary + "\n", "", "another number of fields"},
		{"a quote", "c2,c3\n1,\"" + canary + "\n", "", "no CSV"},
		{"nothing", "", "", "no header line"},
	} {
		_, err := randomised(t, c, a.answers, a.id, Memos{})
		if err == nil || !strings.Contains(err.Error(), a.says) {
			t.Errorf("%s: %v, want: %s", a.what, err, a.says)
		}
		checkSilent(t, a.what, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Randomise(ctx, c, strings.NewReader("c2,c3\n1,1\n"), "", nil, NewWriter(&bytes.Buffer{}), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

// TestDamagedMemosAreRefused reads files of memos with a fault, whose errors show nothing of them.
func TestDamagedMemosAreRefused(t *testing.T) {
	c := collectorOf(t, planOf(t, specOf("epsilon: 1, expect: 100000", 2)))
	memos := Memos{}
	if _, err := randomised(t, c, "who,c2\n"+canary+",1\n", "who", memos); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := memos.Write(&b); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for what, text := range map[string]string{
		"twice": good + good, "cut": good[:len(good)-9],
		"another token": strings.Replace(good, `"token":"`, `"token":"00`, 1),
		"no memo":       `{"id":"` + canary + `"}`, "text": canary,
	} {
		_, err := ReadMemos(strings.NewReader(text))
		if err == nil {
			t.Errorf("%s: is read", what)
		}
		checkSilent(t, what, err)
	}
	if read, err := ReadMemos(strings.NewReader(good)); err != nil || len(read) != 1 {
		t.Errorf("%v, %v", read, err)
	}
}

// TestMadeUpRespondents counts the reports of made-up respondents: as many as asked for, of whom each question gets its
// share, and whose reports hold as many categories as their support.
func TestMadeUpRespondents(t *testing.T) {
	for _, epsilon := range []string{"1", "10"} {
		p := planOf(t, specOf("epsilon: "+epsilon+", expect: 100000", 2, 3))
		all, err := MadeUp(context.Background(), p, 5000)
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for i, m := range all {
			q, sum := collectorOf(t, p).Questions[i], int64(0)
			for _, v := range m.Values.Int64Values() {
				sum += v
			}
			if sum != m.Reports.Kept*q.Support || m.Values.Len() != int(m.Measurement.Cells) {
				t.Errorf("%s: %d categories in %d reports of %d", q.Name, sum, m.Reports.Kept, q.Support)
			}
			total += m.Reports.Kept
		}
		if drawn := p.Measurements[0].IsDrawn(); drawn && (total < 4998 || total > 5000) || !drawn && total != 10_000 {
			t.Errorf("ε = %s: %d reports", epsilon, total)
		}
	}
}

// TestRespondentsAreToldApart refuses what would give two respondents one memo, or leave open which answer is meant.
func TestRespondentsAreToldApart(t *testing.T) {
	c := collectorOf(t, planOf(t, specOf("epsilon: 1, expect: 100000", wide)))
	for answers, says := range map[string]string{
		"who,c512\nann,1\n,2\n":         "is empty in a line",
		"who,c512,c512\nann,1,2\n":      "two columns",
		"who,c512,who\nann,1,bob\n":     "two columns",
		"\ufeffwho,c512,who\nann,1,b\n": "two columns",
	} {
		if _, err := randomised(t, c, answers, "who", Memos{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", answers, err, says)
		}
	}
	if rows, err := randomised(t, c, "\ufeffwho,c512\nann,1\n", "who", Memos{}); err != nil || len(rows) != 1 {
		t.Errorf("a file that begins with a byte order mark: %d reports, %v", len(rows), err)
	}
}
