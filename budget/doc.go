// Package budget is the arithmetic of privacy loss: mechanisms as plain data,
// what each one costs, how costs compose, and how one guarantee converts into
// another.
//
// It owns [Mechanism] (an exact rational parameter and the sensitivities it was
// made for), [Cost] (an amount on an account), [Loss] (the composed loss of
// steps fixed in advance) and the deterministic [Exp] and [Log] that every figure
// of a plan or of a published file is computed with.
//
// It never reads data, never draws noise, never keeps a balance, and never
// understates: parameters are rounded towards more noise, every epsilon and
// delta upwards, every rho that a budget grants downwards. Sums of costs are
// exact rationals.
package budget
