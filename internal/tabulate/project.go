package tabulate

// This file holds the projection from the counts of a base to the counts of its asks.

// projectBase makes the tables of all asks of a base, and releases the base's own tables.
func (c *Counter) projectBase(b int, out []Table) {
	of, sum := &c.bases[b], &c.totals[b]
	taken := map[*table]bool{}
	for _, w := range c.workers {
		if t := w.tables[b]; t != nil && !taken[t] {
			taken[t] = true
			sum.addTable(t, of.cells)
			w.tables[b] = nil
			t.tallies, t.sums = nil, nil
		}
	}
	if sum.narrow == nil {
		sum.allocate(of.cells)
	}
	for _, ask := range of.asks {
		adds, cells, same := c.addends(of, c.request.Tables[ask])
		switch {
		case same && len(of.asks) == 1:
			out[ask] = Table{Counts: sum.low, High: sum.high, Compact: sum.narrow}
		case sum.high != nil:
			out[ask] = Table{Counts: make([]int64, cells), High: make([]int64, cells)}
			addWide(out[ask].Counts, out[ask].High, sum.low, sum.high, adds)
		default:
			out[ask] = Table{Counts: make([]int64, cells)}
			addAll(out[ask].Counts, sum.low, adds)
		}
		out[ask].dropHigh()
	}
	*sum = total{}
}

// isAskItself reports whether a base has a single ask, with the same cells.
func (c *Counter) isAskItself(b int) bool {
	of := &c.bases[b]
	if len(of.asks) != 1 {
		return false
	}
	_, _, same := c.addends(of, c.request.Tables[of.asks[0]])
	return same
}

// addends returns what each code of each group of a base adds to the cell of an ask, the number of cells of the ask,
// and whether these are the cells of the base.
func (c *Counter) addends(b *base, a TableRequest) (adds [][]int, cells int, same bool) {
	cells = 1
	adds = make([][]int, len(b.groups))
	for i, g := range b.groups {
		adds[i] = make([]int, c.groups[g].size)
	}
	for k := len(a.Axes) - 1; k >= 0; k-- {
		axis := a.Axes[k]
		for i, g := range b.groups {
			d, ok := c.groups[g].digits[axis]
			if !ok {
				continue
			}
			d.addCodes(adds[i], cells)
		}
		cells *= c.request.Axes[axis].Size
	}
	stride := 1
	same = cells == b.cells
	for i := len(adds) - 1; i >= 0 && same; i-- {
		for code, x := range adds[i] {
			same = same && x == code*stride
		}
		stride *= len(adds[i])
	}
	return adds, cells, same
}

// addCodes adds weight times the axis's code to each code of the group.
func (d digit) addCodes(to []int, weight int) {
	for len(to) > 0 {
		for x := range d.size {
			by := x * weight
			if d.of != nil {
				by = int(d.of[x]) * weight
			}
			for i := range to[:d.stride] {
				to[i] += by
			}
			to = to[d.stride:]
		}
	}
}

// addAll adds each cell of a base to the ask's cell that is the sum of the addends of its codes.
func addAll(out, cells []int64, adds [][]int) {
	switch len(adds) {
	case 0:
		out[0] += cells[0]
		return
	case 1:
		for i, x := range adds[0] {
			out[x] += cells[i]
		}
		return
	}
	below := len(cells) / max(len(adds[0]), 1)
	if len(adds) > 2 {
		for i, x := range adds[0] {
			addAll(out[x:], cells[i*below:(i+1)*below], adds[1:])
		}
		return
	}
	last := adds[1]
	for i, x := range adds[0] {
		into, row := out[x:], cells[i*below:(i+1)*below]
		row = row[:len(last)]
		for k, y := range last {
			into[y] += row[k]
		}
	}
}

// addWide is addAll for sums of 128 bits.
func addWide(low, high, cells, above []int64, adds [][]int) {
	if len(adds) == 0 {
		low[0], high[0] = add128(low[0], high[0], cells[0], above[0])
		return
	}
	below := len(cells) / len(adds[0])
	for i, x := range adds[0] {
		addWide(low[x:], high[x:], cells[i*below:(i+1)*below], above[i*below:(i+1)*below], adds[1:])
	}
}

// dropHigh drops the upper halves if no sum needs them.
func (t *Table) dropHigh() {
	for i, h := range t.High {
		if h != t.Counts[i]>>63 {
			return
		}
	}
	t.High = nil
}
