package holder_test

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/histogram/holder"
)

// Three holders sum their noisy numbers, and nobody sees those of another.
func Example() {
	noisy := map[string][]int64{"Aue": {31, 4, -1}, "Böhl": {12, -2, 0}, "Calw": {7, 9, 3}}

	keys, public := map[string]holder.Key{}, map[string]holder.PublicKey{} // each with its holder
	for name := range noisy {
		key, err := holder.NewKey()
		must(err)
		keys[name], public[name] = key, key.Public()
	}
	roll, err := holder.NewRoll(strings.Repeat("5f", 32), public) // the hash of the plan
	must(err)
	signatures := map[string][]byte{}
	for name, key := range keys {
		signatures[name], err = roll.Sign(key, name, nil)
		must(err)
	}

	sum := make([]int64, 3)
	for name, numbers := range noisy { // each at its holder
		for other, signature := range signatures {
			must(roll.Verify(other, nil, signature))
		}
		values := make([]uint64, len(numbers))
		for i, x := range numbers {
			values[i] = uint64(x)
		}
		masks, err := holder.NewMasks(roll, keys[name], name)
		must(err)
		must(masks.Mask([]byte("patients by age"), values))
		for i, x := range values { // what leaves the holder
			sum[i] += int64(x)
		}
	}
	must(holder.Check(sum))
	fmt.Println(sum)
	// Output: [50 11 2]
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
