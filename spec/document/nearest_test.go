package document

import "testing"

func TestNearestSuggestsOnlyWhatIsNear(t *testing.T) {
	names := []string{"age", "AREA", "sex", "income", "marital_status", "größe"}
	for word, want := range map[string]string{
		"ag": "age", "aeg": "age", "AGE": "age", "area": "AREA", "sexx": "sex", "incmoe": "income",
		"martial_satus": "marital_status", "MARITAL_STATUS": "marital_status", "grösse": "größe",
		"": "", "xyz": "", "inc": "", "marital": "", "hours": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("age", nil); got != "" {
		t.Errorf("a suggestion from nothing: %q", got)
	}
}

func TestNamesWithCommasAreQuoted(t *testing.T) {
	names := []string{"Boston", "Washington, D.C.", `5" pipe`}
	const want = `Boston, "Washington, D.C.", 5" pipe`
	if got := OneOf(names); got != "one of "+want {
		t.Errorf("got %s", got)
	}
	if got := FirstOf(append(names, "more"), 3); got != want+", …" {
		t.Errorf("got %s", got)
	}
}
