"""Writes skellam.json: epsilon at a delta, and rho, of Skellam noise against shift vectors. It shares neither code nor
method with the program: probabilities are Bessel functions by mpmath, and the losses of all outcomes of a vector are
listed one by one, without a grid. Half of the coordinates are listed, and the other half; with the second list sorted
by loss and its sums, delta is a sum over the first.

    python3 skellam.py > skellam.json
"""

import json
from bisect import bisect_right
from collections import Counter
from itertools import combinations_with_replacement, groupby
from math import exp, factorial, fsum, log

from mpmath import besseli, mp, mpf, power
from mpmath import exp as mp_exp
from mpmath import log as mp_log

mp.dps = 40
NEGLIGIBLE = 1e-17  # of the probability of an outcome


def log_masses(variance, last):
    return [mp_log(besseli(k, variance)) - variance for k in range(last + 1)]


def reach(variance, negligible):
    k = 0
    while besseli(k, variance) * mp_exp(-variance) > negligible:
        k += 1
    return k


def coordinate(variance, d):
    """Probabilities and losses ln P(x)/P(x-d) of one coordinate."""
    last = reach(variance, NEGLIGIBLE)
    logs = log_masses(variance, last + d)
    return [(float(mp_exp(logs[abs(x)])), float(logs[abs(x)] - logs[abs(x - d)])) for x in range(-last, last + 1)]


def sums(variance, d, count):
    """Probabilities and losses of count coordinates that change by d."""
    atoms = coordinate(variance, d)
    out = []
    for chosen in combinations_with_replacement(range(len(atoms)), count):
        p, ways = 1.0, factorial(count)
        for i, times in Counter(chosen).items():
            p *= atoms[i][0] ** times
            ways //= factorial(times)
        if p * ways > NEGLIGIBLE:
            out.append((p * ways, sum(atoms[i][1] for i in chosen)))
    return out


def product(a, b):
    return [(p * q, l + m) for p, l in a for q, m in b if p * q > NEGLIGIBLE]


def half(variance, shift):
    out = [(1.0, 0.0)]
    for d, group in groupby(shift):
        out = product(out, sums(variance, d, len(list(group))))
    return out


class Pair:
    def __init__(self, variance, shift):
        self.first = half(variance, shift[::2])
        second = sorted(half(variance, shift[1::2]), key=lambda a: a[1])
        self.losses = [l for _, l in second]
        self.above, self.shrunk = [0.0], [0.0]  # sums of p, and of p*exp(-loss), from the end
        for p, l in reversed(second):
            self.above.append(self.above[-1] + p)
            self.shrunk.append(self.shrunk[-1] + p * exp(-l))

    def delta(self, epsilon):
        total = []
        for p, l in self.first:
            n = len(self.losses) - bisect_right(self.losses, epsilon - l)
            total.append(p * (self.above[n] - exp(epsilon - l) * self.shrunk[n]))
        return fsum(total)

    def epsilon(self, delta):
        low, high = 0.0, 100.0
        while high - low > 1e-11:
            middle = (low + high) / 2
            if self.delta(middle) > delta:
                low = middle
            else:
                high = middle
        return high


def renyi_ratio(variance, d, theta):
    """The Renyi divergence of order 1+theta over that order."""
    last = reach(variance, mpf(10) ** -60) + int(d * theta) + 5
    logs = log_masses(variance, last + d)
    terms = [mp_exp((1 + theta) * logs[abs(x)] - theta * logs[abs(x + d)]) for x in range(-last, last + 1)]
    return mp_log(sum(terms)) / (theta * (theta + 1))


def rho(variance, shift):
    most = mpf(0)
    for theta in [power(10, -8), power(10, -3), power(10, -2), mpf("0.1"), mpf("0.5"), mpf(1), mpf(2), mpf(5), mpf(20)]:
        most = max(most, sum(renyi_ratio(variance, d, theta) for d in shift))
    return float(most)


def main():
    cases = []
    for variance, shifts, deltas in [
        ("1", [[1]], [1e-3, 1e-6, 1e-9]),
        ("1/2", [[1]], [1e-6]),
        ("1/64", [[2]], [1e-6]),
        ("4", [[1]], [1e-6, 1e-9]),
        ("4", [[2]], [1e-6]),
        ("4", [[1, 1, 1, 1]], [1e-3, 1e-6, 1e-9]),
        ("4", [[2], [1, 1, 1, 1]], [1e-3, 1e-6]),
        ("4", [[4]], [1e-6]),
        ("10", [[1, 1]], [1e-6]),
        ("10", [[3, 1]], [1e-6]),
        ("10", [[2, 2, 1], [3]], [1e-6]),
        ("7/3", [[1, 1, 1, 1, 1, 1]], [1e-6]),
        ("25", [[2, 2], [3, 1]], [1e-6]),
        ("100", [[1]], [1e-6, 1e-9]),
        ("100", [[5, 5]], [1e-6]),
        ("400", [[1]], [1e-6, 1e-9]),
        ("3000", [[40]], [1e-6]),
    ]:
        n, _, m = variance.partition("/")
        mu = mpf(int(n)) / int(m or 1)
        pairs = [Pair(mu, s) for s in shifts]
        for delta in deltas:
            cases.append(dict(variance=variance, shifts=shifts, delta=delta,
                              epsilon=max(p.epsilon(delta) for p in pairs), rho=max(rho(mu, s) for s in shifts)))
    print(json.dumps(cases, indent=1))


main()
