package releasetest

import (
	"encoding/json"
	"os"
	"testing"
)

// ReadJSON reads a JSON file.
func ReadJSON[T any](t *testing.T, path string) T {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
