"""Writes closedform.json: cases of the kinds that have a closed form, at parameters
drawn from wide ranges, calculated from the formulas to 60 digits with mpmath.
Every formula is the definition or the textbook form, not the one the program uses.

    python3 closedform.py > closedform.json
"""

import json
import random

from mpmath import erfc, exp, mp, mpf, nstr, sqrt, workdps

mp.dps = 60
random.seed(20)
cases = []


def case(kind, inputs, value, sound=">=", absolute=0.0):
    def digits(x):
        return nstr(x, 25, strip_zeros=False, min_fixed=-20, max_fixed=25) if x else "0"

    if isinstance(value, dict):
        expected, exact = {k: float(x) for k, x in value.items()}, {k: digits(x) for k, x in value.items()}
    elif isinstance(value, list):
        expected, exact = [float(x) for x in value], [digits(x) for x in value]
    else:
        if 0 < value < mpf(10) ** -290:
            return
        expected, exact = float(value), digits(value)
    cases.append(dict(id="c-%03d" % len(cases), kind=kind, inputs=inputs, expected=expected, expected_digits=exact,
                      tolerance=dict(rel=1e-9, abs=absolute), sound=sound))


def ten_to(low, high):
    return float(mpf(10) ** random.uniform(low, high))


def bisect(positive, low, high, steps=220):
    low, high = mpf(low), mpf(high)
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if positive(middle) else (low, middle)
    return high


def tail(z):
    return erfc(mpf(z) / sqrt(mpf(2))) / 2


def gaussian(mu, e):
    mu, e = mpf(mu), mpf(e)
    with workdps(500):
        return tail(e / mu - mu / 2) - exp(e) * tail(e / mu + mu / 2)


for _ in range(9):
    sigma, l2 = ten_to(-1.5, 4), ten_to(-1, 1)
    mu = mpf(l2) / mpf(sigma)
    e = float(mu * random.uniform(-3, 20) + mu * mu / 2)
    case("gaussian.delta", dict(sigma=sigma, l2_sensitivity=l2, epsilon=e), gaussian(mu, e))
for _ in range(6):
    sigma, k = ten_to(-0.5, 3), int(ten_to(0, 5))
    mu = sqrt(mpf(k)) / mpf(sigma)
    e = float(mu * random.uniform(0, 15) + mu * mu / 2)
    case("pld.gaussian_k", dict(sigma=sigma, l2_sensitivity=1, k=k, epsilon=e), gaussian(mu, e))
    sigma, delta = ten_to(-1, 1.5), ten_to(-30, -2)
    mu = 1 / mpf(sigma)
    if gaussian(mu, 0) > delta:
        case("gaussian.epsilon", dict(sigma=sigma, l2_sensitivity=1, delta=delta),
             bisect(lambda x: gaussian(mu, x) > mpf(delta), 0, mu * 40 + mu * mu))
    e, delta = ten_to(-4, 2), ten_to(-25, -1)
    case("gaussian.sigma", dict(l2_sensitivity=1, epsilon=e, delta=delta),
         1 / bisect(lambda m: gaussian(m, e) < mpf(delta), mpf(10) ** -9, 1000))
for _ in range(4):
    e, delta = ten_to(-2, 1), ten_to(-12, -2)
    kept = [mpf(0)]
    while kept[-1] < 1:
        last = kept[-1]
        kept.append(min(exp(mpf(e)) * last + mpf(delta), 1 - exp(-mpf(e)) * (1 - last - mpf(delta)), mpf(1)))
    counts = sorted(random.sample(range(1, len(kept)), min(5, len(kept) - 1)))
    case("partition.keep_probability", dict(epsilon=e, delta=delta, l0=1), {str(n): kept[n] for n in counts}, sound="<=")

print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
