package ring

type thing struct{ size int }

func (t thing) grow() int {
	if t.size > 10 {
		return t.size
	}
	return A()
}
