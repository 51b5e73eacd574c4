// Package holes lists by kind what it lacks for some.
package holes

// Kind numbers three kinds.
type Kind int

const (
	first Kind = iota
	second
	third
	anyKinds = int(third) + 1
)

var whole = [anyKinds]string{first: "a", second: "b", third: "c"}

var lacks = [anyKinds]func(){first: func() {}, second: nil}

var pairs = [anyKinds][anyKinds]int{first: {first: 1}, second: {first: 1, second: 2}, third: {}}
