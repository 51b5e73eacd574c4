package spec

// This file reads linked microdata: a child's rows are drawn conditionally on the only row that their unit has in
// another table, the parent.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// linkMicrodata finds the microdata of children, and adds the columns that link parents and children. Afterwards
// parents precede their children.
func (r *reader) linkMicrodata(root document.Node) {
	n := root.Get("synthetic")
	for i := range r.release.Synthetic {
		child := &r.release.Synthetic[i]
		if at := n.Get(child.Table); at.Get("parent").Present() && r.IsSound(at.Get("parent")) {
			r.linkToParent(root, at, child)
		}
	}
	for i := range r.release.Synthetic {
		if child := &r.release.Synthetic[i]; child.Parent != "" {
			r.addParentColumns(child)
		}
	}
	slices.SortStableFunc(r.release.Synthetic, func(a, b Synthetic) int {
		return min(len(a.Parent), 1) - min(len(b.Parent), 1)
	})
}

// isFromTables reports whether the microdata may be made from the tables of the release, without a measurement of their
// own.
func (s Synthetic) isFromTables() bool {
	return s.Method == TablesMethod || s.Method == AutoMethod && s.Leaf == ""
}

// firstChildOf returns the first of the microdata that name this table as their parent.
func (r *reader) firstChildOf(root document.Node, parent string) Synthetic {
	i := slices.IndexFunc(r.release.Synthetic, func(s Synthetic) bool {
		return root.Get("synthetic").Get(s.Table).Get("parent").Is(parent)
	})
	return r.release.Synthetic[i]
}

// linkToParent sets the parent of microdata if it is valid, and adds the size to the parent's columns.
func (r *reader) linkToParent(root, n document.Node, child *Synthetic) {
	at, name := n.Get("parent"), n.Get("parent").Text()
	parent, t := r.release.microdataOf(name), r.release.Table(child.Table)
	if parent == nil || parent == child {
		r.reportNoParent(root, at, child)
		return
	}
	above := r.release.Table(name)
	if t == nil || above == nil {
		return // already reported
	}
	unit := root.Get("tables").Get(name).Get("unit")
	switch {
	case root.Get("synthetic").Get(name).Get("parent").Present():
		r.AddProblem(at, document.Problem{
			Message:  fmt.Sprintf("the microdata of %s have a parent themselves", document.Clip(name)),
			Expected: "a parent that has none: rows are linked in one step",
		})
		return
	case above.Unit.ID == "" || t.Unit.ID == "":
		return // rows that are units, with another table, are reported elsewhere
	case above.Unit.MaxRows != 1:
		if first := r.firstChildOf(root, name); first.Table != child.Table {
			return // reported beside that child
		}
		r.AddProblem(unit.Get("max_rows"), document.Problem{
			Message: fmt.Sprintf("%s is a parent under synthetic, and a unit may have %d rows in it",
				document.Clip(name),
				above.Unit.MaxRows),
			Expected: "max_rows: 1 in the parent, so that every row of a child has one parent row", Fix: "max_rows: 1",
		})
		return
	case parent.isFromTables():
		r.AddProblem(at, document.Problem{
			Message: fmt.Sprintf("%s is a parent under synthetic, and no leaf pays for it: nothing is measured of "+
				"how many rows belong to its rows",
				document.Clip(name)),
			Expected: "a leaf for the microdata of " + document.Clip(name) + ", and method auto, mst or aim",
		})
		return
	case parent.Files > 0 || child.Files > 0:
		of := n.Get("files")
		if parent.Files > 0 {
			if first := r.firstChildOf(root, name); first.Table != child.Table {
				return // reported beside that child
			}
			of = root.Get("synthetic").Get(name).Get("files")
		}
		r.WrongKey(of, document.Problem{
			Message: "several files of microdata of a child and its parent: nothing would say which file of the one " +
				"a file of the other belongs to",
			Expected: "no files",
		})
		return
	case child.isFromTables():
		r.AddProblem(at, document.Problem{
			Message: "microdata with a parent, and no leaf pays for them: no table tells how they go with the " +
				"columns of their parent's rows",
			Expected: "a leaf, and method auto, mst or aim",
		})
		return
	case n.Get("rows").Present():
		r.WrongKey(n.Get("rows"), document.Problem{
			Message: fmt.Sprintf("rows with a parent: there are as many as the sizes of the rows of %s say",
				document.Clip(name)),
			Expected: "no rows here; where their number is to be public, rows in the microdata of " +
				document.Clip(name),
		})
		return
	}
	child.Parent, child.Size = name, child.Table
	named := at
	if size := n.Get("size"); size.Present() {
		named, child.Size = size, size.Text()
	}
	if above.Column(child.Size) != nil || child.Size == above.Unit.ID {
		of := "a column %q already"
		if child.Size == above.Unit.ID {
			of = "units by their %q, by which rows are numbered"
		}
		r.AddProblem(named, document.Problem{
			Message: fmt.Sprintf("%s has "+of+", and how many rows of %s a unit has would be called so too",
				document.Clip(name), document.Clip(child.Size), child.Table),
			Expected: "another name for that number", Fix: "size: n_" + child.Table,
		})
		child.Parent = ""
		return
	}
	above.Linked = append(above.Linked, sizeColumn(child.Table, child.Size, t.Unit.MaxRows))
	if r.domains.Spend(n, int(t.Unit.MaxRows)+1, 0) {
		parent.By = append(parent.By, Attribute{Column: child.Size})
	}
}

// reportNoParent reports a parent that does not exist.
func (r *reader) reportNoParent(root, at document.Node, child *Synthetic) {
	name, all := at.Text(), root.Get("synthetic")
	if name == child.Table {
		r.AddProblem(at, document.Problem{Message: fmt.Sprintf("rows of %s cannot belong to rows of %[1]s",
			document.Clip(name)),
			Expected: "another table under synthetic, whose rows these belong to"})
		return
	}
	if all.Get(name).Present() {
		return // already reported
	}
	var names []string
	for _, s := range r.release.Synthetic {
		if s.Table != child.Table && !all.Get(s.Table).Get("parent").Present() {
			names = append(names, s.Table)
		}
	}
	p := document.Problem{Message: fmt.Sprintf("there are no microdata of a table %q in addition to these",
		document.Clip(name)),
		Expected: "another table under synthetic, whose rows these belong to"}
	switch {
	case r.release.Table(name) != nil:
		p.Expected = fmt.Sprintf("an entry for %s under synthetic, as its rows are drawn first", document.Clip(name))
	case len(names) > 0:
		p.Expected = document.OneOf(names)
	}
	r.AddProblem(at, r.WithNearest(at, p, r.Nearest(name, names)))
}

// sizeColumn returns the column with the number of a unit's rows in a table, of which at most `most` are counted.
func sizeColumn(table, name string, most int64) *Column {
	categories := make([]domain.Category, most+1)
	for i := range categories {
		categories[i].Code = fmt.Sprint(i)
	}
	return &Column{Name: name, Link: &Link{Table: table},
		Declaration: domain.Declaration{Type: domain.Integer, Domain: domain.NewTexts(domain.Integer, categories)}}
}

// addParentColumns adds the columns of the parent's microdata to a child's table: the columns that the parent's rows
// hold themselves, and the number of rows of this child.
func (r *reader) addParentColumns(child *Synthetic) {
	t, above := r.release.Table(child.Table), r.release.Table(child.Parent)
	for _, a := range r.release.microdataOf(child.Parent).By {
		c := above.Column(a.Column)
		if c == nil || c.Domain == nil || above.originOf(a) != a || c.Link != nil && a.Column != child.Size {
			continue
		}
		name := linkedName(child.Parent, a.Column)
		if t.Column(name) == nil {
			t.Linked = append(t.Linked, &Column{
				Name: name, Link: &Link{Table: child.Parent, Column: a.Column},
				Declaration: domain.Declaration{Type: c.Type, Codebook: c.Codebook, Map: c.Map, Domain: c.Domain},
			})
		}
		child.Given = append(child.Given, Attribute{Column: name, Level: a.Level})
	}
}

// LinkedBy returns the name of the column by which the microdata of a table show which rows belong together, which is
// the unit column of the parent; "" for microdata that are not linked.
func (r *Release) LinkedBy(table string) string {
	if parent := r.ParentOf(table); parent != "" {
		return r.Table(parent).Unit.ID
	}
	if slices.ContainsFunc(r.Synthetic, func(s Synthetic) bool { return s.Parent == table }) {
		return r.Table(table).Unit.ID
	}
	return ""
}
