package structure

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMain runs the tests in the module's root, as they name files relative to it.
func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.Run()
}
