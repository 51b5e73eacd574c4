// Package budget is the arithmetic of privacy loss: mechanisms as plain data, their costs, how costs compose, and how
// one guarantee converts into another.
//
// It owns [Mechanism] (an exact rational parameter and the sensitivities that it was made for), [Cost] (an amount on an
// account), [Loss] (the composed loss of steps fixed in advance) and the deterministic [Exp] and [Log] with which every
// number in a plan or a published file is computed.
//
// It never reads data, never draws noise, never keeps a balance, and never understates a loss: parameters are rounded
// towards more noise, every epsilon and delta upwards, every rho that a budget grants downwards. Sums of costs are
// exact rationals.
package budget
