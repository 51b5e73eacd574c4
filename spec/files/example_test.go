package files_test

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// Read the code book that a spec names. A plan carries its text, so here it is opened from memory.
func Example() {
	findings := document.NewFindings("release.yaml", "codebook: regions.csv\n")
	root, _ := findings.Read("a spec", "one spec")
	named := root.Get("codebook")
	opener := files.InMemory(map[string]string{"regions.csv": "code,label\nN,North\nS,South\n"}, nil)
	text, ok := files.NewSet(findings, opener).ReadText(named, files.CodeBook, named.Text())
	fmt.Println(len(text), "bytes,", ok)
	fmt.Println(files.DigestText(text).SHA256[:16])
	// Output:
	// 27 bytes, true
	// b90e505ba3ea4c23
}
