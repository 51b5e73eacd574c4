// Package screen lays text out for a terminal: the width of texts, folding and wrapping, tables with aligned columns,
// and bars. It does not query the machine and knows nothing about releases: the caller states how wide the terminal is
// and whether it shows colours ([Look]).
//
//	p := screen.NewPage(screen.Look{Columns: 80})
//	p.Heading("Budget")
//	p.Table([]screen.Column{{Head: "leaf", Fold: 8}, {Head: "share", Right: true}}, rows)
//	os.Stdout.Write(p.Bytes())
package screen
