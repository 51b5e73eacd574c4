package shape_test

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
)

// Describe a document once, and check another one against that.
func Example() {
	policy := shape.Object("a policy",
		shape.Field{Key: "account", Shape: shape.Text("the name of an account"),
			Required: "a policy is of one account"},
		shape.Field{Key: "cap", Shape: shape.Number("a number")})
	findings := document.NewFindings("policy.yaml", "account: survey\ncapp: 6\n")
	root, _ := findings.Read("a policy", "one policy")
	shape.Check(findings, policy, root, nil)
	fmt.Println(findings.Problems()[0])
	// Output:
	// policy.yaml:2:1: capp: unknown key "capp"
	//     2 | capp: 6
	//       | ^
	//   expected: one of account, cap
	//   did you mean "cap"?
	//   fix: cap: 6
}
