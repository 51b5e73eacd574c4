"""Errors of collections of randomised answers: dprelease next to multi-freq-ldpy and OpenDP, and, for means of numbers
and sums of neighbouring categories, next to the mechanisms that are published for them.

The same made-up answers of 20 000 respondents to four questions, the same ε for each respondent, and several draws by
each. A respondent answers one question that is drawn; the others' shares are equal, as theirs are. Printed is the root
mean squared error of a share of the respondents, over all categories of a question and all draws: of unbiased
estimates, and of figures that are made nonnegative and add up to 1, as each program publishes them."""

import csv
import math
import os
import random
import subprocess
import sys

import duckdb
import numpy as np
import opendp.prelude as dp
from multi_freq_ldpy.mdim_freq_est import SMP_solution as smp

RESPONDENTS, DRAWS = 20_000, int(os.environ.get("DPRELEASE_DRAWS", "40"))
SIZES = {"used": 2, "band": 6, "drug": 20, "place": 100}
dp.enable_features("contrib")


def answers():
    """Returns each respondent's categories; frequencies fall from category to category."""
    draw = random.Random(20261129)
    weights = [[0.9 ** min(c, 40) for c in range(k)] for k in SIZES.values()]
    return [[draw.choices(range(k), w)[0] for k, w in zip(SIZES.values(), weights)] for _ in range(RESPONDENTS)]


def spec(epsilon):
    columns = "".join(f"      {name}: {{values: [{', '.join(f'c{c}' for c in range(k))}]}}\n" for name, k in SIZES.items())
    marginals = "".join(f"  {name}: {{by: [{name}]}}\n" for name in SIZES)
    return (
        "version: 1\nrelease: r\nprivacy: {protects: respondent, neighbours: replace}\n"
        f"collect:\n  c: {{protocol: local, epsilon: {epsilon}, expect: {RESPONDENTS}}}\n"
        "publish: {integers: consistent}\n"
        f"tables:\n  t:\n    source: {{parquet: reports.parquet}}\n    collected: c\n    columns:\n{columns}marginals:\n{marginals}"
    )


def own(program, folder, people, epsilon):
    """Yields for each draw the unbiased and the published shares of every question."""
    with open(os.path.join(folder, "answers.csv"), "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(SIZES)
        rows.writerows([[f"c{c}" for c in person] for person in people])
    with open(os.path.join(folder, "r.yaml"), "w") as f:
        f.write(spec(epsilon))
    run = lambda *words: subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)
    for draw in range(DRAWS):
        out = f"{epsilon}-{draw}"
        run("local", "collector", "r.yaml", "-o", out)
        run("local", "randomise", f"{out}/r.collector.json", "answers.csv", "--to", "reports.parquet")
        run("run", "r.yaml", "-o", out)
        shares = []
        for name in SIZES:
            path = os.path.join(folder, out, "r", "tables", name + ".parquet")
            cells = duckdb.sql(f"SELECT count_unbiased, count FROM '{path}'").fetchall()
            shares.append(np.array(cells, dtype=float).T / RESPONDENTS)
        yield [s[0] for s in shares], [s[1] for s in shares]


def multi_freq(people, epsilon, name):
    """Yields for each draw the unbiased shares, which its estimators do not return, and the published ones."""
    sizes = list(SIZES.values())
    client, aggregate = getattr(smp, f"SMP_{name}_Client"), getattr(smp, f"SMP_{name}_Aggregator_MI")
    for _ in range(DRAWS):
        reports = [client(person, sizes, len(sizes), epsilon) for person in people]
        unbiased = None
        if name in ("SS", "GRR"):
            unbiased = [unbiased_shares([np.atleast_1d(v) for a, v in reports if a == at], k, epsilon, name)
                        for at, k in enumerate(sizes)]
        yield unbiased, aggregate(reports, sizes, len(sizes), epsilon)


def unbiased_shares(sets, k, epsilon, name):
    """Returns the estimates of a question from its reports, before they are clipped."""
    w = int(max(1, np.rint(k / (np.exp(epsilon) + 1)))) if name == "SS" else 1
    p = w * math.exp(epsilon) / (w * math.exp(epsilon) + k - w)
    q = (w - p) / (k - 1)
    return (np.bincount(np.concatenate(sets), minlength=k) / len(sets) - q) / (p - q)


def opendp_responses(people, epsilon):
    """Yields shares from OpenDP's randomised response of the drawn question, estimated as it documents: unbiased, and
    made nonnegative and scaled to 1."""
    draw = random.Random()
    for _ in range(DRAWS):
        counts, asked = [np.zeros(k) for k in SIZES.values()], [0] * len(SIZES)
        respond = []
        for k in SIZES.values():
            p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
            m = dp.m.make_randomized_response(categories=list(range(k)), prob=p)
            assert m.map(1) <= epsilon + 1e-9
            respond.append((m, p, (1 - p) / (k - 1)))
        for person in people:
            at = draw.randrange(len(SIZES))
            asked[at] += 1
            counts[at][respond[at][0](person[at])] += 1
        unbiased = [(c / n - q) / (p - q) for c, n, (_, p, q) in zip(counts, asked, respond)]
        yield unbiased, [np.clip(u, 0, None) / np.clip(u, 0, None).sum() for u in unbiased]


def numbers():
    """Returns populations of numbers from 0 to 100: near the middle, skewed, and at both ends."""
    draw = np.random.default_rng(20261129)
    return {
        "middle": np.clip(draw.normal(50, 10, RESPONDENTS), 0, 100).round().astype(int),
        "skewed": np.clip(draw.exponential(10, RESPONDENTS), 0, 100).round().astype(int),
        "ends": draw.choice([0, 100], RESPONDENTS, p=[0.7, 0.3]),
    }


def drawn(program, folder, answers, spec, columns):
    """Runs a collection of one question again and again, and yields the columns of its table for each draw."""
    with open(os.path.join(folder, "answers.csv"), "w") as f:
        f.write(answers)
    with open(os.path.join(folder, "one.yaml"), "w") as f:
        f.write(spec)
    run = lambda *words: subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)
    for draw in range(DRAWS):
        out = f"one-{hash(spec)}-{hash(answers)}-{draw}"
        run("local", "collector", "one.yaml", "-o", out)
        run("local", "randomise", f"{out}/one.collector.json", "answers.csv", "--to", "reports.parquet")
        run("run", "one.yaml", "-o", out)
        path = os.path.join(folder, out, "one", "tables", "table.parquet")
        yield duckdb.sql(f"SELECT {columns} FROM '{path}'").fetchall()


def one_question(epsilon, column, marginal):
    """Returns the spec of such a collection."""
    return (
        "version: 1\nrelease: one\nprivacy: {protects: respondent, neighbours: replace}\n"
        f"collect:\n  c: {{protocol: local, epsilon: {epsilon}, expect: {RESPONDENTS}}}\n"
        "tables:\n  t:\n    source: {parquet: reports.parquet}\n    collected: c\n"
        f"    columns: {{x: {{type: integer, range: {column}}}}}\nmarginals:\n  table: {marginal}\n")


def own_means(program, folder, values, epsilon):
    """Yields for each draw the mean, and whether its interval holds the true one."""
    spec = one_question(epsilon, "[0, 100]", "{by: [], stats: [{mean: x}]}")
    for rows in drawn(program, folder, "x\n" + "\n".join(map(str, values)) + "\n", spec, "x_mean, x_mean_low, x_mean_high"):
        mean, low, high = rows[0]
        yield mean, low <= values.mean() <= high


def one_bit(x, e, draw):
    """Duchi, Jordan and Wainwright: a bit for numbers from −1 to 1."""
    up = draw.random(len(x)) < 0.5 + x * (e - 1) / (2 * (e + 1))
    return np.where(up, 1, -1) * (e + 1) / (e - 1)


def piecewise(x, e, draw):
    """Wang et al. 2019, Collecting and analyzing multidimensional data with local differential privacy, algorithm 2."""
    root = math.sqrt(e)
    c = (root + 1) / (root - 1)
    low = (c + 1) / 2 * x - (c - 1) / 2
    high = low + c - 1
    near = draw.random(len(x)) < root / (root + 1)
    inside = low + (high - low) * draw.random(len(x))
    outside = -c + (c + 1) * draw.random(len(x))  # of the range without the window, whose length is c − 1
    outside = np.where(outside > low, outside + (high - low), outside)
    return np.where(near, inside, outside)


def hybrid(x, e, draw):
    """The same, section III: the piecewise mechanism with probability 1 − e^(−ε/2), else one bit, from ε = 0.61 on."""
    epsilon = math.log(e)
    if epsilon <= 0.61:
        return one_bit(x, e, draw)
    return np.where(draw.random(len(x)) < 1 - math.exp(-epsilon / 2), piecewise(x, e, draw), one_bit(x, e, draw))


def means(program, folder):
    """Prints the errors of a mean: dprelease next to the mechanisms that are published for it."""
    populations = numbers()
    print(f"\nroot mean squared error of a mean, in 1/1000 of the range; {RESPONDENTS} respondents, {DRAWS} draws of dprelease, "
          f"2000 of the others; and intervals of dprelease that hold the mean")
    print("ε     program     " + "".join(name.rjust(22) for name in populations))
    draw = np.random.default_rng()
    for epsilon in (0.5, 1, 2, 4):
        row = []
        for values in populations.values():
            drawn = list(own_means(program, folder, values, epsilon))
            off = math.sqrt(np.mean([(mean - values.mean()) ** 2 for mean, _ in drawn]))
            row.append(f"{10 * off:.2f}   {sum(held for _, held in drawn)} of {DRAWS}")
        print(f"{epsilon:<5} dprelease   " + "".join(text.rjust(22) for text in row), flush=True)
        for mechanism in (one_bit, piecewise, hybrid):
            row = []
            for values in populations.values():
                x = values / 50 - 1
                off = [mechanism(x, math.exp(epsilon), draw).mean() - x.mean() for _ in range(2000)]
                row.append(f"{500 * math.sqrt(np.mean(np.square(off))):.2f}" + " " * 11)
            print(f"{epsilon:<5} {mechanism.__name__:12}" + "".join(text.rjust(22) for text in row), flush=True)


AGES = 100


def ages():
    """Returns how many respondents have each age: two groups of them."""
    draw = np.random.default_rng(20261130)
    people = np.concatenate([draw.normal(25, 6, RESPONDENTS // 3), draw.normal(55, 15, RESPONDENTS - RESPONDENTS // 3)])
    return np.bincount(np.clip(people, 0, AGES - 1).astype(int), minlength=AGES)


def own_ages(program, folder, counts, epsilon, sums):
    """Yields for each draw the unbiased shares of all ages, of a question that is asked for ranges of them, or is not."""
    people = "x\n" + "".join(f"{age}\n" * n for age, n in enumerate(counts))
    spec = one_question(epsilon, f"[0, {AGES - 1}]", f"{{by: [x]{sums}}}")
    for rows in drawn(program, folder, people, spec, "count_unbiased"):
        yield np.array(rows, dtype=float)[:, 0] / RESPONDENTS


def hierarchical(counts, epsilon, draw):
    """Cormode, Kulkarni and Srivastava 2019, Answering range queries under local differential privacy, section 4.4 and 4.5:
    each respondent draws one of the levels of a tree of four branches, and reports the node by optimised unary encoding;
    the estimates are made consistent by least squares."""
    widths = [4 ** level for level in range(math.ceil(math.log(AGES, 4)))]
    level = draw.integers(len(widths), size=RESPONDENTS)
    people, q = np.repeat(np.arange(AGES), counts), 1 / (math.exp(epsilon) + 1)
    rows, estimates = [np.ones((1, AGES)) * 1e6], [np.array([1e6])]  # all shares add up to 1
    for at, width in enumerate(widths):
        nodes = np.arange(AGES) // width
        asked = np.bincount(nodes[people[level == at]], minlength=nodes[-1] + 1)
        n = asked.sum()
        held = draw.binomial(asked, 0.5) + draw.binomial(n - asked, q)
        rows.append((nodes[None, :] == np.arange(nodes[-1] + 1)[:, None]) * math.sqrt(n))
        estimates.append((held / n - q) / (0.5 - q) * math.sqrt(n))
    return np.linalg.lstsq(np.concatenate(rows), np.concatenate(estimates), rcond=None)[0]


def haar(counts, epsilon, draw):
    """The same, section 4.6: each respondent draws a level of the Haar transform, and reports his coefficient, which is one
    or minus one in one place, by a bit of its Hadamard transform."""
    people, e = draw.permutation(np.repeat(np.arange(AGES), counts)), math.exp(epsilon)
    size = 2 ** math.ceil(math.log2(AGES))
    shares = np.full(size, 1 / size)
    for asked, nodes in zip(np.array_split(people, int(math.log2(size))), 2 ** np.arange(int(math.log2(size)))):
        width = size // nodes
        sign = np.where(asked % width < width // 2, 1, -1)
        index = draw.integers(nodes, size=len(asked))
        bit = np.array([1 - 2 * (bin(a & b).count("1") & 1) for a, b in zip(index, asked // width)]) * sign
        bit = np.where(draw.random(len(asked)) < e / (e + 1), bit, -bit) * (e + 1) / (e - 1)
        spectrum = np.bincount(index, weights=bit, minlength=nodes) / len(asked)
        hadamard = np.array([[1 - 2 * (bin(a & b).count("1") & 1) for a in range(nodes)] for b in range(nodes)])
        difference = np.repeat(hadamard @ spectrum, width) / width
        shares += np.where(np.arange(size) % width < width // 2, difference, -difference)
    return shares[:AGES]


def ranges(program, folder):
    """Prints the errors of sums of neighbouring categories: of all ranges of ages, and of the ages themselves."""
    counts, others = ages(), 200
    print(f"\nroot mean squared error of a share in 1/1000, of all ranges of {AGES} ages / of the ages; {RESPONDENTS} respondents, "
          f"{DRAWS} draws of dprelease, {others} of the others")
    draw = np.random.default_rng()
    first, last = np.triu_indices(AGES)
    print("ε     program                  ranges / ages")
    for epsilon in (1, 2):
        programs = {
            "dprelease, with ranges": own_ages(program, folder, counts, epsilon, ", ranges: [x]"),
            "dprelease, without": own_ages(program, folder, counts, epsilon, ""),
            "hierarchy of four": (hierarchical(counts, epsilon, draw) for _ in range(others)),
            "Haar, Hadamard": (haar(counts, epsilon, draw) for _ in range(others)),
        }
        for name, drawn in programs.items():
            of_ranges, of_ages = [], []
            for shares in drawn:
                off = shares - counts / RESPONDENTS
                up = np.concatenate([[0], np.cumsum(off)])
                of_ranges.append(np.mean((up[last + 1] - up[first]) ** 2))
                of_ages.append(np.mean(off ** 2))
            print(f"{epsilon:<5} {name:26}{1000 * math.sqrt(np.mean(of_ranges)):5.2f} / {1000 * math.sqrt(np.mean(of_ages)):.2f}",
                  flush=True)


def errors(draws, truth):
    """Returns the root mean squared errors of every question, of both kinds of figures."""
    squares = [[[], []] for _ in truth]
    for draw in draws:
        for kind, shares in enumerate(draw):
            for at, t in enumerate(truth):
                if shares is not None:
                    squares[at][kind].append(np.mean((np.asarray(shares[at]) - t) ** 2))
    return [[math.sqrt(np.mean(s)) if s else None for s in question] for question in squares]


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    people = answers()
    truth = [np.bincount([p[i] for p in people], minlength=k) / RESPONDENTS for i, k in enumerate(SIZES.values())]
    print(f"root mean squared error of a share, in 1/1000: unbiased / as published; {RESPONDENTS} respondents, {DRAWS} draws")
    print("ε   program                   " + "".join(f"{name} of {k}".rjust(16) for name, k in SIZES.items()))
    for epsilon in (1, 2, 4):
        programs = {"dprelease": own(program, folder, people, epsilon)}
        for name in ("SS", "GRR", "ADP"):
            programs["multi-freq-ldpy SMP " + name] = multi_freq(people, epsilon, name)
        programs["OpenDP randomised response"] = opendp_responses(people, epsilon)
        for name, draws in programs.items():
            text = lambda e: "–" if e is None else f"{1000 * e:.2f}"
            print(f"{epsilon}   {name:26}" + "".join(f"{text(u)} / {text(p)}".rjust(16) for u, p in errors(draws, truth)),
                  flush=True)
    means(program, folder)
    ranges(program, folder)


main()
