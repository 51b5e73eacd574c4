package phrase_test

import (
	"encoding/json"
	"fmt"

	"github.com/dprelease/dprelease/plan/phrase"
)

// A plan holds a phrase as a code, and a page its words.
func Example() {
	why := phrase.New(phrase.ManyColumns, 40, 30)
	stored, _ := json.Marshal(why)
	fmt.Println(string(stored))
	fmt.Println(why)
	// Output:
	// {"code":"many-columns","of":["40","30"]}
	// with 40 columns, more than 30, the rounds of method aim take too long
}
