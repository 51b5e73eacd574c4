package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
)

// Answers print as confidential, by themselves and within others, whatever prints them.
func TestAnswersSayNothing(t *testing.T) {
	a := New([]Answer{{Counts: []int64{7319}}}, false, Stamp{})
	// The digits of a time could be taken for a count.
	withoutTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	type holder struct {
		A Answers
		B *Answers
	}
	for _, v := range []any{a, &a, []Answers{a}, holder{a, &a}, map[string]Answers{"x": a}} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, withoutTime)).Info("counted", "answers", v)
		slog.New(slog.NewTextHandler(&log, withoutTime)).Info("counted", "answers", v)
		for _, shown := range []string{string(text), fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%d", v),
			log.String()} {
			if strings.Contains(shown, "7319") || !strings.Contains(shown, confidential) {
				t.Errorf("%T shows %s", v, shown)
			}
		}
		if shown := fmt.Sprintf("%#v", v); strings.Contains(shown, "7319") {
			t.Errorf("%T shows %s", v, shown)
		}
	}
}

// Whoever is handed Answers can call nothing on them, and read no field, that tells anything: a caller outside of
// histogram cannot name the functions that do.
func TestAnswersHaveNoGetter(t *testing.T) {
	of, says := reflect.TypeFor[Answers](), reflect.TypeFor[Redacted]()
	for _, p := range []reflect.Type{of, reflect.PointerTo(of)} {
		for i := range p.NumMethod() {
			if _, redacts := says.MethodByName(p.Method(i).Name); !redacts {
				t.Errorf("%v has a method %s", p, p.Method(i).Name)
			}
		}
	}
	for i := range of.NumField() {
		if f := of.Field(i); f.IsExported() && f.Type != says {
			t.Errorf("%v has a field %s", of, f.Name)
		}
	}
}

func TestAnswersAreThoseOfTheCounter(t *testing.T) {
	a := New([]Answer{{Counts: []int64{1}}, {Counts: []int64{2, 3}}}, true, Stamp{1})
	if all := All(a); len(all) != 2 || all[1].Len() != 2 || !IsMadeUp(a) {
		t.Errorf("%d answers, made up: %t", len(all), IsMadeUp(a))
	}
	if !Has(a, Stamp{1}) || Has(a, Stamp{2}) {
		t.Error("the stamp is another")
	}
	if All(Answers{}) != nil || IsMadeUp(Answers{}) || Has(Answers{}, Stamp{}) {
		t.Error("the zero Answers answer something")
	}
}

// Answers cannot be held against guesses, nor looked into by reflection.
func TestAnswersAreNotCompared(t *testing.T) {
	a, b := New([]Answer{{Counts: []int64{7}}}, false, Stamp{}), New([]Answer{{Counts: []int64{7}}}, false, Stamp{})
	if reflect.DeepEqual(a, b) {
		t.Error("reflect.DeepEqual can compare answers")
	}
	if kind := reflect.ValueOf(a).FieldByName("inner").Kind(); kind != reflect.Func {
		t.Errorf("answers lie behind a %v", kind)
	}
}
