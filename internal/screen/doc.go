// Package screen lays text out for a terminal: how wide a text is, how it is folded and wrapped, tables whose columns
// line up, and thin bars. It asks no machine for anything and knows nothing of releases: how wide the terminal is and
// whether it shows colours is for the caller to say ([Look]).
//
//	p := screen.NewPage(screen.Look{Columns: 80})
//	p.Heading("Budget")
//	p.Table([]screen.Column{{Head: "leaf", Fold: 8}, {Head: "share", Right: true}}, rows)
//	os.Stdout.Write(p.Bytes())
package screen
