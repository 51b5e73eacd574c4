package ledger_test

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
)

const text = "account: lfs-panel\nprotects: person\nneighbours: add-remove\ncap: {epsilon: 6}\n"

// Open an account, pay for one release, and be refused another that would exceed the cap.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	policy, err := ledger.ParsePolicy("policy.yaml", []byte(text))
	if err != nil {
		panic(err)
	}
	l, err := ledger.Open(ctx, filepath.Join(folder, "ledger.db"), ledger.OpenOptions{})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	charge := ledger.Charge{Account: "lfs-panel", Release: "labour-2026q1", PlanHash: strings.Repeat("0f", 32),
		Terms: policy.Terms, Cost: budget.Cost{Epsilon: big.NewRat(2, 1)}}
	fmt.Println(l.Init(ctx, policy), l.Reserve(ctx, charge))
	receipt, err := l.Debit(ctx, charge)
	fmt.Println(receipt.Status(), receipt.Valid(), err)
	charge.Release, charge.Cost.Epsilon = "labour-2026q2", big.NewRat(5, 1)
	for part := range strings.SplitSeq(l.Reserve(ctx, charge).Error(), ". ") {
		fmt.Println(part)
	}
	// Output:
	// <nil> <nil>
	// release true <nil>
	// account lfs-panel refuses release labour-2026q2: it asks for ε = 5, and ε = 4 is left
	// Used of the cap of ε = 6: ε = 2 is spent, and ε = 0 is reserved by releases not yet finished
	// Lower the budget of the release to at most ε = 4.
}
