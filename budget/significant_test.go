package budget

import (
	"math/big"
	"testing"
)

func TestLossesHaveAllSignificantDigits(t *testing.T) {
	for text, want := range map[string]string{"1": "1.000", "0.299": "0.2990", "0.25231": "0.2524", "12.3": "12.30",
		"0.0012": "0.001200", "9.99991": "10.00", "12345.6": "12\u202f350", "1e-9": "1e-9", "0": "0"} {
		r, _ := new(big.Rat).SetString(text)
		if got := SignificantUp(r, 4); got != want {
			t.Errorf("%s is written %q, want %q", text, got, want)
		}
	}
}
