package draft

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A column that identifies people must neither be counted by nor be missed: a draft with unit: row would protect single
// rows of people who have several.
func TestIdentifiersByName(t *testing.T) {
	for name, want := range map[string]identity{
		"id": surelyID, "ID": surelyID, "uuid": surelyID, "pid": surelyID, "person_id": surelyID, "PersonID": surelyID,
		"personid": surelyID, "Person no": surelyID, "Person No.": surelyID, "person_no": surelyID,
		"personNumber": surelyID,
		"PERSON-NR":    surelyID, "id_person": surelyID, "Customer number": surelyID, "customer_num": surelyID,
		"Kundennummer": surelyID, "Kunden-Nr.": surelyID, "kundennr": surelyID, "Patient id": surelyID,
		"patientno": surelyID,
		"hhid":      surelyID, "household no": surelyID, "Haushaltsnummer": surelyID, "respondent": perhapsID,
		"caseid":  surelyID,
		"Case no": surelyID, "respid": surelyID, "id2": surelyID, "trip.key": surelyID, "Mitgliedsnummer": surelyID,
		"person": perhapsID, "Kunde": perhapsID, "household": perhapsID, "no": perhapsID, "Nummer": perhapsID,
		"Hausnummer": perhapsID, "phone number": perhapsID, "patient_code": perhapsID, "education_num": notID,
		"invoice_nr": perhapsID,
		"age":        notID, "paid": notID, "number of rooms": notID, "household size": notID, "personal": notID,
		"person_type": notID, "hours worked": notID, "Glücklich": notID, "casenotes": notID, "": notID, "2026": notID,
		"monkey": notID, "postcode": notID, "covid": notID, "casino": notID, "Zahl": notID,
	} {
		if got := identifies(name); got != want {
			t.Errorf("%q is judged %d, want %d", name, got, want)
		}
	}
}

// A name that says what a column has decides the form of its entry, and never its domain.
func TestFormsByName(t *testing.T) {
	for name, want := range map[string]string{
		"age": "integer", "Age": "integer", "age_band": "values", "wait minutes": "integer", "waitMinutes": "integer",
		"date of visit": "date", "seen_on": "date", "SeenOn": "date", "Geburtsdatum": "date", "update": "values",
		"candidate": "values", "language": "values", "income": "values", "visits": "integer", "Alter": "integer",
		"age group": "values", "days": "integer", "holidays": "values", "date": "date",
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte("pid,"+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := Spec(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		form := map[string]string{"integer": "type: integer, range: []}", "date": "type: date, range: []}",
			"values": "values: []}"}[want]
		_, columns, _ := strings.Cut(text, "not a column to count by\n")
		entry, _, _ := strings.Cut(columns, "   # decide:")
		if !strings.HasSuffix(entry, form) {
			t.Errorf("%s is drafted as %s, want %s", name, entry, form)
		}
	}
}

func TestSpecFromHeader(t *testing.T) {
	const sure, open = "    unit: {id: ", "    unit: []   # decide: "
	for _, c := range []struct{ file, header, unit, first, table string }{
		{"people.csv", "Person no,age,town", sure + `"Person no", max_rows: 1}   # decide: `, "[age]", "people"},
		{"people.csv", "age,Kundennummer", sure + "Kundennummer, max_rows: 1}", "[age]", "people"},
		{"people.csv", "person,Hausnummer,age", open + "{id: COLUMN, max_rows: N}, or row if each row is a unit of " +
			"its own; a name that may be an id: person, Hausnummer\n", "[age]", "people"},
		{"people.csv", "age,town", open + "{id: COLUMN, max_rows: N}, or row if each row is a unit of its own\n",
			"[age]", "people"},
		{"people.csv", "pid", sure + "pid,", "[]", "people"},
		{"Labour force-2026.v2.csv", "no,Yes", open, `["Yes"]`, "Labour_force_2026"},
		{"2026.csv", "pid,age", sure, "[age]", "rows"},
		{"---.csv", "pid,age", sure, "[age]", "rows"},
		{"no.csv", "pid,age", sure, "[age]", `"no"`},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(c.header+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := Spec(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.first == "[age]" && strings.Contains(c.header, "person,") &&
			!strings.Contains(text, "may be an id, and then no column to count by: delete it if so\n      Hausnummer: {") {
			t.Errorf("the draft does not ask whether Hausnummer is an id:\n%s", text)
		}
		for _, want := range []string{c.unit, "first: {by: " + c.first + "}", "tables:\n  " + c.table + ":\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("the draft of %s with %s lacks %q:\n%s", c.file, c.header, want, text)
			}
		}
	}
}
