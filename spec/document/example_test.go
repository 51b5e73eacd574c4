package document_test

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
)

// Read a document, and report what is wrong with one of its values.
func Example() {
	findings := document.NewFindings("policy.yaml", "account: survey\ncap: {epsilon: six}\n")
	root, _ := findings.Read("a policy", "one policy")
	fmt.Println(root.Get("account").Text())
	if amount := root.Get("cap").Get("epsilon"); !amount.IsNumber() {
		findings.AddProblem(amount, document.Problem{Message: "not a number", Expected: "such as 6, 0.5 or 1/2"})
	}
	fmt.Println(findings.Problems()[0])
	// Output:
	// survey
	// policy.yaml:2:16: cap.epsilon: not a number
	//     2 | cap: {epsilon: six}
	//       |                ^
	//   expected: such as 6, 0.5 or 1/2
}
