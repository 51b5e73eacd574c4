package noise_test

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/internal/noise"
)

func Example() {
	key, err := noise.NewKey()
	if err != nil {
		fmt.Println(err)
		return
	}
	streams := noise.NewStreams(key, "hash of the plan")
	counts := []int64{1000, 0, 250}
	stream := streams.Noise([]byte("definition"), []byte("hash of the exact counts"), 0)
	err = noise.AddDiscreteGaussian(stream, big.NewRat(5, 2), counts)
	fmt.Println(len(counts), err, key, streams)
	// Output: 3 <nil> confidential confidential
}
