package sign_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/sign"
)

// Draw a key, sign a message for a purpose, and check the signature: it serves no other purpose.
func Example() {
	folder, err := os.MkdirTemp("", "keys")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	public, err := sign.Generate(filepath.Join(folder, "office"))
	if err != nil {
		panic(err)
	}
	key, err := sign.ReadKey(filepath.Join(folder, "office"))
	if err != nil {
		panic(err)
	}
	signature := key.Sign("example", []byte("a plan"))
	fmt.Println(public.Verify("example", []byte("a plan"), signature))
	fmt.Println(public.Verify("approval", []byte("a plan"), signature) == nil)
	// Output:
	// <nil>
	// false
}
