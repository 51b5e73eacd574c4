package adaptive

func (x Schedule) Now() Turn { return x.now }
