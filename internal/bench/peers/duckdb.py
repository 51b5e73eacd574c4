# Counts the tables of a case with DuckDB, in one of its forms:
#
#   encoded  the file is read once into a table in memory whose columns are the codes of an
#            ENUM, of one byte; then one query for each table
#   ordered  (bounded) the same, of the rows that QUALIFY row_number() leaves of each person
#   drawn    (bounded) the same, of the rows whose numbers min_by(…, random(), k) leaves
#   direct   one query for each table, straight from the file
#
# The job is the first argument, as JSON; the outcome is printed as JSON. Each query ends
# in the sums that are compared, so that DuckDB need not hand over a table of counts.
import json
import resource
import sys
import time

import duckdb

job = json.loads(sys.argv[1])
a, b, p = job["weight"]
sizes = {c["name"]: len(c["values"]) for c in job["columns"]}
db = duckdb.connect()
db.execute("SET threads = %d" % job["threads"])
db.execute("SET perfect_ht_threshold = 24")  # hash tables that are arrays, for as many cells as DuckDB allows
db.execute("SET enable_progress_bar = false")
db.execute("SET preserve_insertion_order = false")
for c in job["columns"]:
    db.execute("CREATE TYPE t_%s AS ENUM (%s)" % (c["name"], ", ".join("'%s'" % v for v in c["values"])))


def number(row="") -> str:
    """The file as a table, with the numbers of its rows where they are asked for."""
    if job["format"] == "csv":
        types = ", ".join("'%s': 't_%s'" % (n, n) for n in sizes)
        return "read_csv('%s', header = true, types = {%s})" % (job["file"], types)
    return "read_parquet('%s'%s)" % (job["file"], row)


def code(name, qualifier="") -> str:
    return "enum_code(%s%s::t_%s)::UTINYINT" % (qualifier, name, name)


def encode():
    used = [n for n in sizes if any(n in t for t in job["tables"])]
    codes = ", ".join("%s AS %s" % (code(n), n) for n in used)
    k = job["max_rows"]
    if job["form"] == "ordered":
        db.execute("CREATE TABLE codes AS SELECT %s FROM (SELECT %s, person_id, random() AS lot FROM %s) "
                   "QUALIFY row_number() OVER (PARTITION BY person_id ORDER BY lot) <= %d"
                   % (", ".join(used), codes, number(), k))
    elif job["form"] == "drawn":
        db.execute("CREATE TABLE kept AS SELECT unnest(min_by(file_row_number, random(), %d)) AS r FROM %s GROUP BY person_id"
                   % (k, number(", file_row_number = true")))
        db.execute("CREATE TABLE codes AS SELECT %s FROM %s SEMI JOIN kept ON file_row_number = r"
                   % (codes, number(", file_row_number = true")))
    else:
        db.execute("CREATE TABLE codes AS SELECT %s FROM %s" % (codes, number()))


def cell(names, of) -> str:
    """The place of a cell in the row-major order of its table."""
    text = "0"
    for n in names:
        text = "(%s * %d + %s)" % (text, sizes[n], of(n))
    return text


def query(names) -> str:
    if job["form"] == "direct":
        counts = "SELECT %s, count(*) AS n FROM %s GROUP BY ALL" % (", ".join(names), number())
        place = cell(names, lambda n: "enum_code(%s::t_%s)::BIGINT" % (n, n))
    else:
        counts = "SELECT %s, count(*) AS n FROM codes GROUP BY ALL" % ", ".join(names)
        place = cell(names, lambda n: n + "::BIGINT")
    return ("SELECT count(*), sum(n)::BIGINT, sum(n * (x * x %% %d))::BIGINT FROM (SELECT n, (%s * %d + %d) %% %d AS x FROM (%s))"
            % (p, place, a, b, p, counts))


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
if job["form"] != "direct":
    encode()
middle, middle_cpu = time.perf_counter(), used()
for names in job["tables"]:
    cells, total, weighted = db.execute(query(names)).fetchone()
    tallies[",".join(names)] = {"cells": cells, "total": total, "sum": weighted}
    if time.perf_counter() - middle > job["limit"]:
        break
end, end_cpu = time.perf_counter(), used()
more = len(job["tables"]) / len(tallies)
if job["form"] != "direct":
    steps["encode"] = middle - wall
steps["count"] = (end - middle) * more
json.dump({
    "version": duckdb.__version__,
    "wall_seconds": (middle - wall) + (end - middle) * more,
    "cpu_seconds": (middle_cpu - cpu) + (end_cpu - middle_cpu) * more,
    "peak_bytes": peak(),
    "steps": steps,
    "tables_counted": len(tallies),
    "tallies": tallies,
}, sys.stdout)
