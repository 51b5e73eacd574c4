# Counts the tables of a case with Polars, in one of its forms:
#
#   encoded  the file is read once, each column as the codes of an Enum, of one byte; then the
#            cells of each table are worked out and counted
#   grouped  the same, with group_by over the columns of each table
#   lazy     a lazy scan of the file for each table
#
# The job is the first argument, as JSON; the outcome is printed as JSON. Where rows of a
# person are left out, they are drawn while the file is read.
import json
import os
import resource
import sys
import time

job = json.loads(sys.argv[1])
os.environ["POLARS_MAX_THREADS"] = str(job["threads"])
import polars as pl

a, b, p = job["weight"]
enums = {c["name"]: pl.Enum(c["values"]) for c in job["columns"]}
sizes = {c["name"]: len(c["values"]) for c in job["columns"]}


def scan():
    if job["format"] == "csv":
        return pl.scan_csv(job["file"], schema_overrides=enums)
    return pl.scan_parquet(job["file"])


def code(name):
    return pl.col(name).cast(enums[name]).to_physical().cast(pl.UInt8).alias(name)


def encode():
    used = [n for n in sizes if any(n in t for t in job["tables"])]
    columns = [code(n) for n in used]
    k = job["max_rows"]
    if k == 0:
        return scan().select(columns).collect()
    rows = scan().select(columns + [pl.col("person_id")]).collect()
    ids = rows.select("person_id").with_row_index("row").sample(fraction=1, shuffle=True, seed=None)
    kept = ids.filter(pl.col("row").cum_count().over("person_id") <= k)["row"]
    return rows.select(used)[kept]


def cell(names):
    place = pl.lit(0, pl.Int64)
    for n in names:
        place = place * sizes[n] + pl.col(n).cast(pl.Int64)
    return place


def small(names):
    """The place of a cell, in the narrowest type that holds it."""
    cells = 1
    for n in names:
        cells *= sizes[n]
    kind = pl.UInt16 if cells <= 1 << 16 else pl.UInt32
    place = pl.col(names[0]).cast(kind)
    for n in names[1:]:
        place = place * pl.lit(sizes[n], kind) + pl.col(n).cast(kind)
    return place


def count(names):
    if job["form"] == "encoded":
        return rows.select(small(names).alias("cell")).group_by("cell").len("n")
    if job["form"] == "grouped":
        return rows.group_by(names).len("n")
    return scan().group_by(names).len("n").collect()


def tally(names, counts):
    if job["form"] == "lazy":
        counts = counts.with_columns([code(n) for n in names])
    place = pl.col("cell").cast(pl.Int64) if job["form"] == "encoded" else cell(names)
    x = (place * a + b) % p
    n = pl.col("n").cast(pl.Int64)
    total, weighted = counts.select(n.sum().alias("total"), (n * (x * x % p)).sum().alias("sum")).row(0)
    return {"cells": counts.height, "total": total, "sum": weighted}


def used():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def peak():
    try:
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM"))
    except OSError:
        return 0


tallies, steps = {}, {}
wall, cpu = time.perf_counter(), used()
if job["form"] != "lazy":
    rows = encode()
middle, middle_cpu = time.perf_counter(), used()
spent, spent_cpu = 0.0, 0.0
for names in job["tables"]:
    from_wall, from_cpu = time.perf_counter(), used()
    counts = count(names)
    spent += time.perf_counter() - from_wall
    spent_cpu += used() - from_cpu
    tallies[",".join(names)] = tally(names, counts)
    if spent > job["limit"]:
        break
more = len(job["tables"]) / len(tallies)
if job["form"] != "lazy":
    steps["encode"] = middle - wall
steps["count"] = spent * more
json.dump({
    "version": pl.__version__,
    "wall_seconds": (middle - wall) + spent * more,
    "cpu_seconds": (middle_cpu - cpu) + spent_cpu * more,
    "peak_bytes": peak(),
    "steps": steps,
    "tables_counted": len(tallies),
    "tallies": tallies,
}, sys.stdout)
