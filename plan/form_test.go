package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
)

// TestMeasurementsOfOneKindAreRead reads a measurement of each kind of what is counted and of what is given out, and
// refuses those of two, and keys that it does not know, wherever they are.
func TestMeasurementsOfOneKindAreRead(t *testing.T) {
	counts := []string{`"value":{"column":"x","power":1,"times":1}`, `"quantile":{"column":"x","at":["1/2"]}`,
		`"distribution":{"column":"x","width":1}`, `"distinct":{"column":"x","per_unit":1}`,
		`"diagnostic":"units over"`,
		`"reports":{"form":"set","categories":3,"support":1,"keep":140737488355328,"chance":1}`}
	const noise = `{"kind":"discrete-laplace","parameter":"1","l1":"1","l2_squared":"1"}`
	gives := []string{`"above":4`, `"discovery":{"columns":["x"],"groups":1,"select":` + noise + `,"delta":"1/8"}`,
		`"top":{"of":1,"select":` + noise + `,"sensitivity":1}`, `"texts":{"column":"x","alphabet":"ab","followed":9}`}
	var met [counted.Kinds]bool
	var givenOut [selection.Kinds]bool
	read := func(query, given string) error {
		query = strings.TrimSuffix(`"table":"t","factors":[],`+query, ",")
		text := fmt.Sprintf(`{"id":"m","query":{%s},"cells":1,"mechanism":%s,%s`, query, noise, given)
		var m Measurement
		err := json.Unmarshal([]byte(strings.TrimSuffix(text, ",")+"}"), &m)
		if err == nil && (m.Query.Counted == nil || m.Selection == nil) {
			t.Errorf("%s, %s: is of no kind", query, given)
		}
		if err != nil {
			return err
		}
		met[m.Query.Counted.Kind()], givenOut[m.Selection.Kind()] = true, true
		var again Measurement
		if b, err := json.Marshal(m); err != nil || json.Unmarshal(b, &again) != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("%s, %s: is written as another: %s, %v", query, given, b, err)
		}
		return nil
	}
	for i, count := range append(counts, "") {
		for j, give := range append(gives, "") {
			if err := read(count, give); err != nil {
				t.Errorf("%s, %s: %v", count, give, err)
			}
			if count != "" && read(count+","+counts[(i+1)%len(counts)], give) == nil {
				t.Errorf("%s is read with another", count)
			}
			if give != "" && read(count, give+","+gives[(j+1)%len(gives)]) == nil {
				t.Errorf("%s is read with another", give)
			}
		}
		if count != "" && read(strings.Replace(count, "{", `{"unknown":1,`, 1)+`,"unknown":1`, "") == nil {
			t.Errorf("%s is read with a key that nobody knows", count)
		}
	}
	for _, give := range gives {
		if read("", strings.Replace(give, "{", `{"unknown":1,`, 1)+`,"unknown":1`) == nil {
			t.Errorf("%s is read with a key that nobody knows", give)
		}
	}
	for _, text := range []string{"null", "{}"} {
		var m Measurement
		if err := json.Unmarshal([]byte(text), &m); err != nil || m.Query.Counted == nil || m.Selection == nil {
			t.Errorf("%s: is of no kind, %v", text, err)
		}
	}
	if slices.Contains(met[:], false) || slices.Contains(givenOut[:], false) {
		t.Errorf("of some kinds nothing was read and written: %v, %v", met, givenOut)
	}
}
