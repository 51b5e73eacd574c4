// Package holder sums the answers of one release over several holders of data, so that nobody sees the answer of one:
// each holder masks its noisy answers and hands in its share, and whoever adds the shares of all holders, the
// coordinator, gets the sum of the answers and nothing else.
//
// It owns the keys of holders, the roll of those who take part in a sum, the masks, the signatures, and the addition.
// It never counts, never draws noise, never decides what is summed, and keeps no state: the plan says what is measured,
// and each holder adds its share of the noise and debits its ledger before it masks anything.
//
// The course of a sum:
//  1. Each holder makes a [Key], and hands out its [PublicKey]. People compare fingerprints.
//  2. The coordinator writes the [Roll]: the hash of the plan, the holders and their keys. Every holder signs it, and
//     masks only for a roll that all holders in it have signed.
//  3. Each holder masks the noisy integers of each measurement ([Masks]), and signs and hands in its share.
//  4. The coordinator adds the shares of all holders ([Add]): the masks cancel.
//
// # Guarantee
//
// Every two holders agree on a secret mask for every measurement. One adds it and the other subtracts it, modulo 2^64.
// Whoever lacks the keys of all holders in a set T of at least two sees masked values of T that are uniform among those
// with the right sum: they learn the sum over T, with the noise of the holders in T, and nothing else. So a share
// looks uniform to everybody who lacks the keys of its holder and of at least one other. If all holders but those in
// T may collude, with the coordinator too, the holders in T alone must add all the noise that the plan requires. If T
// is one holder, its noisy answer is open to all others together.
//
// The argument is docs/proofs/holders.md. It assumes that computing X25519 secrets from public keys is hard and that
// HKDF-SHA256 and AES-256 are pseudo-random.
//
// # Threat model
//
// Holders and the coordinator are semi-honest: they follow the protocol, and then pool what they saw. Signatures keep
// strangers out and find damaged and exchanged files. They do not keep a holder from handing in false numbers.
//
// Two sums of the same noisy answers by different sets of holders differ by one holder's answer, under little noise. So
// holders sum over a smaller roll only if whoever is missing on it has signed that its share never left, and never will
// ([Roll.Without]). Two vectors under the same masks would show their difference: each holder signs a nonce of its own
// with the roll, and uses it for one draw. Several sums of the same answers with ever new noise of another holder would
// let that noise be averaged away: a holder masks its answers again only with the same nonces of the others.
//
// A share stays secret as long as the keys do. A key that leaks later opens the old shares that were masked with it:
// holders erase keys when no sum with them is under way.
package holder
