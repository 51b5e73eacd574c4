package describe

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the sample in words.

// ShareText is an exact share as a percentage, such as "10%".
func ShareText(share string) string {
	f, _ := plan.Amount(share).Float64()
	return budget.Percent(f)
}

// Sample says what the sample adds to the error of a count whose units have up to so many rows in a cell.
func Sample(s *plan.Sample, rows int64) string {
	share := plan.Amount(s.Share)
	each := new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), share), share)
	each.Mul(each, new(big.Rat).SetInt64(rows))
	return fmt.Sprintf(" The error of the sample comes on top: in a cell of n rows its standard error is at most √(%s·n), and the published interval includes it.", budget.DecimalUp(each, 4))
}
