package adaptive

func (x Schedule) Now() RoundMechanisms { return x.now }
