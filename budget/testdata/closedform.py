"""Writes closedform.json: cases of the kinds that have a closed form, at parameters
drawn from wide ranges, calculated from the formulas to 60 digits with mpmath.
Every formula is the definition or the textbook form, not the one the program uses.

    python3 closedform.py > closedform.json
"""

import json
import random

from mpmath import binomial, erfc, exp, expm1, log, log1p, mp, mpf, nstr, npdf, sqrt, workdps

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


def laplace(e0, e):
    if e >= e0:
        return mpf(0)
    return 1 - exp(mpf(e)) if e < -e0 else 1 - exp((mpf(e) - e0) / 2)


def removal(q, e, profile):
    c = (exp(mpf(e)) - 1) / q + 1
    return q * profile(log(c)) if c > 0 else 1 - exp(mpf(e))


def addition(q, e, profile):
    c = 1 - exp(mpf(e)) * (1 - q)
    return c * profile(log(exp(mpf(e)) * q / c)) if c > 0 else mpf(0)


def replacement(mu, q, e):
    mu, q, e = mpf(mu), mpf(q), mpf(e)
    with workdps(200):
        a, b = (1 - q) * (exp(e) - 1), q * exp(-mu * mu / 2)
        x = log((a + sqrt(a * a + 4 * b * b * exp(e))) / (2 * b)) / mu
        return (1 - q) * (1 - exp(e)) * tail(x) + q * tail(x - mu) - exp(e) * q * tail(x + mu)


def discrete_laplace(a, s):
    """Losses and their masses under P."""
    a = mpf(a)
    r = exp(-a)
    inner = [(a * (s - 2 * x), (1 - r) * r ** x / (1 + r)) for x in range(1, s)]
    return [(a * s, 1 / (1 + r))] + inner + [(-a * s, r ** s / (1 + r))]


def hockey_stick(law, e):
    return sum((m * (1 - exp(e - loss)) for loss, m in law if loss > e), mpf(0))


def renyi(law, order):
    return log(sum(m * exp((mpf(order) - 1) * loss) for loss, m in law)) / (mpf(order) - 1)


def composed(e0, d0, k, e):
    e0, d0, e = mpf(e0), mpf(d0), mpf(e)
    p = 1 / (1 + exp(-e0))
    law = [((k - 2 * j) * e0, binomial(k, j) * p ** (k - j) * (1 - p) ** j) for j in range(k + 1)]
    return 1 - (1 - d0) ** k * (1 - hockey_stick(law, e))


def subsampled(q, mu, order):
    """The trapezoid rule at a quarter of the step the program takes."""
    step, total = min(mpf(1) / 8, mpf(1) / 10 / mu), mpf(0)
    i = -int(20 / step)
    while i * step < order * mu + 20:
        x = i * step
        one_plus = 1 - q + q * exp(mu * x - mu * mu / 2)
        total += npdf(x) * (one_plus ** order - 1 - order * (one_plus - 1))
        i += 1
    return log1p(total * step) / (order - 1)


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
for _ in range(6):
    q, mu = ten_to(-4, 0), 1 / ten_to(-0.7, 1.5)
    e = random.choice([random.uniform(-1, 2), random.uniform(-0.1, 0.2), -float(log1p(-mpf(q))) * 0.9])
    for name, direction in (("REM", removal), ("ADD", addition)):
        case("psg.delta", dict(sigma=1.0, l2_sensitivity=mu, sampling_prob=q, adjacency=name, epsilon=e),
             direction(mpf(q), e, lambda x: gaussian(mu, x)))
        case("laplace.delta", dict(scale=1.0, l1_sensitivity=mu, sampling_prob=q, adjacency=name, epsilon=e),
             direction(mpf(q), e, lambda x: laplace(mpf(mu), x)), absolute=1e-17)
    q, mu = random.uniform(0.02, 1), ten_to(-1.5, 0.7)
    e = random.choice([random.uniform(0, 1), random.uniform(0, 8) * mu])
    case("psg.delta_replace", dict(sigma=1.0, l2_sensitivity=mu, sampling_prob=q, epsilon=e), replacement(mu, q, e))
for _ in range(6):
    s, a = int(ten_to(0, 2)), ten_to(-3, 0.5)
    e = random.choice([float(mpf(a) * s * random.uniform(-1.2, 1.05)), float(mpf(a) * (s - 2 * random.randint(0, s)))])
    case("dlaplace.delta", dict(a=a, sensitivity=s, epsilon=e),
         hockey_stick(discrete_laplace(a, s), mpf(e)), absolute=1e-17)
    order = random.choice([1 + ten_to(-5, 0), ten_to(0.1, 3)])
    case("rdp.dlaplace", dict(a=a, sensitivity=s, order=order), renyi(discrete_laplace(a, s), order))
for _ in range(9):
    k, e0, d0 = int(ten_to(0, 3)), ten_to(-3, 1), random.choice([0.0, ten_to(-14, -2)])
    e = float(min(k * e0 * random.uniform(0, 1.02), k * e0 * e0 / 2 + k ** 0.5 * e0 * random.uniform(0, 12)))
    case("kov.delta", dict(epsilon0=e0, delta0=d0, k=k, epsilon=e), composed(e0, d0, k, e), absolute=1e-300)
for _ in range(3):
    k, e0, delta = int(ten_to(0.5, 2)), ten_to(-2, 0.5), ten_to(-12, -2)
    case("kov.epsilon", dict(epsilon0=e0, delta0=0, k=k, delta=delta),
         bisect(lambda x: composed(e0, 0, k, x) > mpf(delta), 0, k * mpf(e0), 120))
for count in (2, 5, 9, 11):
    epsilons = [ten_to(-2, 0.7) for _ in range(count)]
    law = [(mpf(0), mpf(1))]
    for e0 in map(mpf, epsilons):
        p = 1 / (1 + exp(-e0))
        law = [(loss + e0, m * p) for loss, m in law] + [(loss - e0, m * (1 - p)) for loss, m in law]
    e = float(sum(epsilons) * random.uniform(0, 1))
    case("kov.hetero_delta", dict(epsilons0=epsilons, epsilon=e), hockey_stick(law, mpf(e)), absolute=1e-300)
for _ in range(6):
    e0, order = ten_to(-5, 2), random.choice([1 + ten_to(-8, 0), ten_to(0.1, 3)])
    a = mpf(order)
    case("rdp.laplace", dict(e0=e0, order=order),
         log(a / (2 * a - 1) * exp((a - 1) * mpf(e0)) + (a - 1) / (2 * a - 1) * exp(-a * mpf(e0))) / (a - 1))
    q, sigma, order = ten_to(-5, -0.05), ten_to(-0.3, 1), random.choice([1 + ten_to(-4, 0), ten_to(0.3, 1.5)])
    case("rdp.psg", dict(sampling_prob=q, sigma=sigma, order=order), subsampled(mpf(q), 1 / mpf(sigma), mpf(order)))
    order, value, delta = 1 + ten_to(-2, 3), ten_to(-4, 1), ten_to(-20, -2)
    a = mpf(order)
    epsilon = mpf(value) + log(1 - 1 / a) + (log(1 / mpf(delta)) - log(a)) / (a - 1)
    if epsilon > 0 and mpf(delta) ** 2 < -expm1(-mpf(value)):
        case("rdp.to_epsilon_one_order", dict(order=order, rdp=value, delta=delta), epsilon)
for _ in range(4):
    rho, delta = ten_to(-6, 2), ten_to(-30, -1)
    e, l = float(rho * 1.2 + 0.1 * rho ** 0.5), log(1 / mpf(delta))
    case("zcdp.eps_standard", dict(rho=rho, delta=delta), mpf(rho) + 2 * sqrt(mpf(rho) * l))
    case("zcdp.delta_standard", dict(rho=rho, epsilon=e), exp(-(mpf(e) - mpf(rho)) ** 2 / 4 / mpf(rho)))
    case("zcdp.rho_standard", dict(epsilon=e, delta=delta), (sqrt(mpf(e) + l) - sqrt(l)) ** 2, sound="<=")
for _ in range(4):
    e, delta = ten_to(-2, 1), ten_to(-12, -2)
    kept = [mpf(0)]
    while kept[-1] < 1:
        last = kept[-1]
        kept.append(min(exp(mpf(e)) * last + mpf(delta), 1 - exp(-mpf(e)) * (1 - last - mpf(delta)), mpf(1)))
    counts = sorted(random.sample(range(1, len(kept)), min(5, len(kept) - 1)))
    case("partition.keep_probability", dict(epsilon=e, delta=delta, l0=1), {str(n): kept[n] for n in counts}, sound="<=")
    l0, linf, delta, sigma = random.randint(1, 20), random.randint(1, 20), ten_to(-14, -1), ten_to(-1, 3)
    each = 1 - (1 - mpf(delta)) ** (mpf(1) / l0)
    case("threshold.laplace", dict(l0=l0, linf=linf, epsilon=e, delta=delta),
         linf + mpf(l0) * linf / mpf(e) * log(1 / (2 * each)))
    case("threshold.gaussian", dict(l0=l0, linf=linf, sigma=sigma, threshold_delta=delta),
         linf + mpf(sigma) * bisect(lambda z: tail(z) > each, -10, 40))
for _ in range(4):
    k, noise, order = random.randint(2, 100), random.uniform(0.001, 0.999), 1 + ten_to(-3, 3)
    p = mpf(noise)
    truth, other, even = 1 - p + p / k, p / k, 1 / mpf(k)
    case("rr.pure_epsilon", dict(noise_parameter=noise, buckets=k, relation="replace_one"), log(truth / other))
    case("rr.pure_epsilon", dict(noise_parameter=noise, buckets=k, relation="replace_special"),
         max(log(truth / even), log(even / other)))
    replaced = [(log(truth / other), truth), (log(other / truth), other), (mpf(0), (k - 2) * other)]
    case("rdp.rr_replace", dict(noise_parameter=noise, buckets=k, orders=[order]), [renyi(replaced, order)])
    there = [(log(truth / even), truth), (log(other / even), (k - 1) * other)]
    absent = [(log(even / truth), even), (log(even / other), (k - 1) * even)]
    case("rdp.rr_special", dict(noise_parameter=noise, buckets=k, orders=[order]),
         [max(renyi(there, order), renyi(absent, order))])

print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
