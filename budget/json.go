package budget

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
)

// decodeStrict decodes one JSON value into v and refuses keys that v does not have, so that a misspelt amount is never
// silently ignored.
func decodeStrict(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

// parseInteger reads an exact integer from text, within the limits of ParseRat.
func parseInteger(text string) (*big.Int, error) {
	r, err := ParseRat(text)
	if err != nil {
		return nil, err
	}
	if !r.IsInt() {
		return nil, fmt.Errorf("%q is not an integer", clipText(text))
	}
	return new(big.Int).Set(r.Num()), nil
}
