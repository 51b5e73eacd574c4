"""Counts tables for dprelease on your own Spark. No row leaves your storage.

Run it with any Spark from version 3.4 on, also on Databricks or EMR:

    spark-submit dprelease_spark.py FOLDER

or, as a client of Spark Connect from version 4.0 on, with python3 and the server's address in SPARK_REMOTE. FOLDER is
the folder that dprelease wrote, or a copy of it at any address that Spark reads and writes, such as
s3://bucket/folder. The file job.json in it says what to do. There are two rounds, each a run of this program:

    1.  It writes the distinct values of each column that the release reads, but for integers of a short range that the
        release declares. Copy FOLDER back to dprelease, which gives every value a code.
    2.  It replaces values by codes, chooses the rows of each unit that count, and counts how many rows have which
        codes. Copy FOLDER back to dprelease, which makes the release.

What to know before you run it:

  * It reads the tables and writes into FOLDER. Spark itself writes what it sorts and exchanges to the disks of its
    executors, with ids and codes; have it encipher them (spark.io.encryption.enabled=true).
  * While it runs, FOLDER holds a copy of the rows, as codes or as texts. It is replaced by empty files at the end,
    also after an error. If the program is killed, remove FOLDER/*/rows-*, FOLDER/*/coded-* and FOLDER/*/bounded-*.
  * Who runs it must see all rows: row filters and column masks would change the counts.
  * FOLDER/*/key-*.parquet decides which rows count. Keep it as safe as the tables. It is read by Spark alone, and is in
    no query, so that neither Spark's pages nor its logs show it. These do show numbers of rows, and values if a query
    of the release fails on them, as CAST may: write try_cast.
  * Never run it twice at once. Once a run has ended, to run it again is safe.
"""

import json
import re
import sys
import uuid

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

FORMAT = 2

# Every file of one run has the same number, so that files of two runs are never taken together.
RUN = uuid.uuid4().hex

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Days and times are read and written as the numbers that they are.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    # A file that is missing or damaged stops the run. It must not leave out rows.
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
}

# How the value of a column is written as a text, and how the text is read, by the type of the column. Different values
# have different texts, and what is read is the value that was written.
WRITTEN = {
    "date": ("CAST(unix_date({}) AS STRING)", "date_from_unix_date(CAST({} AS INT))"),
    "timestamp": ("CAST(unix_micros({}) AS STRING)", "timestamp_micros(CAST({} AS BIGINT))"),
    "timestamp_ntz": ("CAST(unix_micros(CAST({} AS TIMESTAMP)) AS STRING)", "timestamp_micros(CAST({} AS BIGINT))"),
    "string": ("{}", "{}"),
}
for plain in ["tinyint", "smallint", "int", "bigint", "float", "double", "boolean"]:
    WRITTEN[plain] = ("CAST({} AS STRING)", "CAST({} AS " + plain.upper() + ")")

# The letters of the types of ids, which are hashed with the ids.
LETTERS = {"tinyint": "I", "smallint": "I", "int": "I", "bigint": "I", "date": "D", "string": "T"}

INTEGERS = ["tinyint", "smallint", "int", "bigint"]

MOST_ID = 4096  # bytes of an id


class Refused(Exception):
    """What stops the program, as a sentence about tables and columns. It never holds a value."""


def plain_type(field):
    """Returns the type of a column without what matters only for its texts: a length or a collation."""
    name = field.dataType.simpleString()
    return "string" if re.match(r"(string|char|varchar)\b", name) else name


def how_written(field):
    """Returns how the values of a column are written and read, and None for a type that is not read."""
    name = plain_type(field)
    if name.startswith("decimal("):
        return "CAST({} AS STRING)", "CAST({} AS " + name.upper() + ")"
    return WRITTEN.get(name)


def write(rows, path):
    """Writes rows in place of what is at a path."""
    rows.withColumn("run", F.lit(RUN)).write.mode("overwrite").option("compression", "snappy").parquet(path)


class Table:
    """A table of the job, with the folder of its files."""

    def __init__(self, spark, job, number, folder):
        self.spark = spark
        self.job = job
        self.number = number  # of the whole job
        self.folder = folder + "/" + job["folder"]
        self.codes = [f"c{n}" for n in range(len(job["values"]))]
        self.copies = []

    def read(self, *path):
        """Reads files that dprelease or this program wrote."""
        return self.spark.read.parquet("/".join([self.folder, *path]))

    def write(self, rows, *path):
        write(rows, "/".join([self.folder, *path]))

    def source(self):
        """Returns the rows of the table."""
        if self.job.get("parquet"):
            return self.spark.read.parquet(self.job["parquet"])
        if self.job.get("query"):
            # In parentheses it must be a SELECT, which approvers of the plan have seen.
            return self.spark.sql("SELECT * FROM (" + self.job["query"] + "\n) AS dprelease_rows")
        return self.spark.table(".".join("`" + part.replace("`", "``") + "`" for part in self.job["table"]))

    def place(self, fields, name):
        """Returns the number of the column with a name."""
        places = [i for i, field in enumerate(fields) if field.name == name]
        if len(places) != 1:
            found = "there is no such column" if not places else "there are two columns of this name"
            raise Refused(f"table {self.job['name']}, column {name}: {found}; the columns are "
                          + ", ".join(field.name for field in fields))
        return places[0]

    def open(self):
        """Opens the table, and looks for the columns that are read. It reads no row."""
        rows = self.source()
        fields = rows.schema.fields
        self.rows = rows.toDF(*[f"s{i}" for i in range(len(fields))])  # from here on no name needs quotes
        self.names, self.types = {}, {}  # by column, its name in these rows, and its field
        for name in self.job["columns"]:
            at = self.place(fields, name)
            if how_written(fields[at]) is None:
                raise Refused(
                    f"table {self.job['name']}, column {name}: has the type {plain_type(fields[at])}, which is not read; cast "
                    "it in a query: to text, an integer, a decimal, a double, a date, a timestamp or a boolean")
            self.names[name], self.types[name] = f"s{at}", fields[at]
        self.letter, self.unit = "", "CAST(NULL AS BINARY)"
        if self.job.get("id"):
            at = self.place(fields, self.job["id"])
            of = plain_type(fields[at])
            self.letter = LETTERS.get(of)
            if self.letter is None:
                raise Refused(
                    f"table {self.job['name']}, column {self.job['id']}: has a type by which units are not told apart; cast it "
                    "in a query to text, bigint or date")
            text = WRITTEN[of][0].format(f"s{at}")
            self.unit = f"CAST(s{at} AS BIGINT)" if self.letter == "I" else f"CAST({text} AS BINARY)"

    def is_integer(self, name):
        """Reports whether a column has integers."""
        return plain_type(self.types[name]) in INTEGERS

    def seek(self, public):
        """Notes which columns with codes have integers of a range, so that their codes are public, and which columns of
        the source are left, whose values are looked for."""
        self.public = public
        self.sought = [name for name in self.job["columns"] if any(
            name in columns and not known for known, columns in zip(public, self.job["values"]))]

    def copy(self, *codes):
        """Copies what is read of every row: its id (i), the values of the columns whose values are looked for (k0, k1
        …), as the bytes of texts, and codes.

        The table is read only here, once, and by one step, so all that follows is about the same rows. The column
        `exact` says that all values can be read from their texts.
        """
        selected, exact = [], "true"
        for name in self.sought:
            at, written = self.names[name], how_written(self.types[name])
            text = written[0].format(at)
            selected.append(f"CAST({text} AS BINARY) AS {self.key_of(name)}")
            exact += f" AND {written[1].format('(' + text + ')')} <=> {at}"
        return self.copy_of(self.rows.selectExpr(f"{self.unit} AS i", *selected, *codes, f"{exact} AS exact"), "rows")

    def copy_of(self, rows, name):
        """Writes rows to a place that no other run uses, and reads them again."""
        self.copies.append(f"{name}-{RUN}")
        self.write(rows, self.copies[-1])
        return self.read(self.copies[-1])

    def empty_copies(self):
        """Replaces the copies of rows by empty files."""
        for copy in self.copies:
            self.write(self.spark.range(0), copy)

    def key_of(self, name):
        """Returns the name that a column has in the copy."""
        return f"k{self.job['columns'].index(name)}"

    # The first round.

    def write_values(self):
        """Writes the distinct values of each column, or the distinct combinations of values of several, but for columns
        of integers of a range, and which these are."""
        self.open()
        self.seek([whole is not None and self.is_integer(columns[0])
                   for whole, columns in zip(self.job["integers"], self.job["values"])])
        known = ", ".join(["0L"] + [f"{int(known)}L" for known in self.public])  # never an empty list
        self.write(self.spark.range(len(self.public)).selectExpr(
            "id AS number", f"array({known})[CAST(id + 1 AS INT)] AS known"), "known")
        rows = self.copy() if self.sought else None
        for number, columns in enumerate(self.job["values"]):
            if self.public[number]:
                continue
            selected = []
            for n, name in enumerate(columns):
                value = how_written(self.types[name])[1].format(f"CAST(k{n} AS STRING)")
                selected += [f"k{n}", f"{value} AS v{n}"]
            keys = [F.col(self.key_of(name)).alias(f"k{n}") for n, name in enumerate(columns)]
            self.write(rows.select(*keys).distinct().selectExpr(*selected), "values", str(number))

    # The second round.

    def look_up(self, number):
        """Returns what gives the code of an integer of a range. What is outside the range has the code of the integer
        next to it, so no case can fail."""
        whole, name = self.job["integers"][number], self.job["values"][number][0]
        if not self.is_integer(name):
            raise Refused(f"table {self.job['name']}, column {name}: has another type than in the first round; begin with "
                          "the first round again, in a new folder")
        null, *codes = [f"{code}L" for code in self.job["lookups"][number]]
        low, high = bigint(whole["low"] - 1), bigint(whole["high"] + 1)
        clamped = f"least(greatest(CAST({self.names[name]} AS BIGINT), {low}), {high})"
        return (f"CASE WHEN {self.names[name]} IS NOT NULL THEN array({', '.join(codes)})[CAST({clamped} - {low} AS INT)] "
                f"ELSE {null} END AS c{number}")

    def encode(self):
        """Replaces values by their codes (c0, c1 …), which are null for values that have none. It returns the rows with
        values, and those with codes."""
        self.open()
        self.seek([codes is not None for codes in self.job.get("lookups", [])])
        rows = self.copy(*[self.look_up(number) for number, known in enumerate(self.public) if known])
        if not self.sought:
            return rows, rows
        coded = rows
        for number, columns in enumerate(self.job["values"]):
            if self.public[number]:
                continue
            codes = self.read("codes", self.job["codes"][number]).select(*[f"k{n}" for n in range(len(columns))], "code")
            names = [f"j{number}_{n}" for n in range(len(columns))]
            codes = codes.toDF(*names, f"c{number}")
            same = F.lit(True)
            for of, name in zip(columns, names):
                same = same & F.col(self.key_of(of)).eqNullSafe(F.col(name))
            coded = coded.join(codes, same, "left")
        return rows, self.copy_of(coded.select("i", *self.codes, "exact"), "coded")

    def write_numbers(self, rows, coded):
        """Writes how many rows there are, and how many are left out or break the contract, in which way."""
        missing = " OR ".join(["false"] + [f"{code} IS NULL" for code in self.codes])
        long = "false" if self.letter == "I" else f"octet_length(i) > {MOST_ID}"
        judged = coded.selectExpr("count(*) AS copied" if rows is coded else "0 AS none",
                                  "count(*) FILTER (WHERE NOT exact) AS inexact",
                                  f"count(*) FILTER (WHERE {long}) AS long_ids",
                                  f"count(*) FILTER (WHERE {missing}) AS missing",
                                  *[f"{number} AS n{n}" for n, number in enumerate(self.job["numbers"])])
        if rows is not coded:
            judged = rows.selectExpr("count(*) AS copied").crossJoin(judged.drop("none"))
        self.write(judged, "numbers")

    def bound(self, counted):
        """Chooses the rows of each unit: those with the least hashes, if it has more than max_rows.

        A row's hash depends on nothing but the key, the id and the row's own codes, so it is the same in every run, on
        every machine, and in every other program that counts the table. Rows are exchanged between machines once.
        """
        most = self.job["max_rows"]
        key = F.broadcast(self.read(f"key-{self.number}.parquet"))
        contents = [f"c{n}" for n in self.job.get("contents", [])]
        unit = F.col("i").cast("string").cast("binary") if self.letter == "I" else F.col("i")
        sized = counted.withColumn("size", F.count(F.lit(1)).over(Window.partitionBy("i")))
        is_large = F.col("size") > most
        content = F.concat_ws(",", *[F.col(name).cast("string") for name in contents], F.lit(self.letter))
        content = F.when(is_large, digits(F.col("contents").cast("binary"), content.cast("binary"), unit))
        hashed = sized.crossJoin(key).withColumn("content", content).drop("contents", "priorities")
        # Rows with the same codes are numbered. Which of them has which number makes no difference.
        others = [name for name in self.codes if name not in contents]
        hashed = hashed.withColumn("number", F.row_number().over(
            Window.partitionBy("i", "content").orderBy(*others or ["content"])))
        again = F.concat(F.lit("t"), F.col("number").cast("string"), F.lit(":"), F.col("content"))
        again = digits(F.col("priorities").cast("binary"), again.cast("binary"))
        priority = F.when(is_large & (F.col("number") > 1), again).otherwise(F.col("content"))
        hashed = hashed.crossJoin(key).withColumn("priority", priority).drop("contents", "priorities")
        ranked = hashed.withColumn("rank", F.row_number().over(
            Window.partitionBy("i").orderBy("priority", "content", "number")))
        bounded = self.copy_of(ranked.where(F.col("rank") <= most).select(*self.codes or ["i"]), "bounded")
        sizes = counted.groupBy("i").agg(F.count(F.lit(1)).alias("size"))
        self.write(bounded.selectExpr("count(*) AS rows").crossJoin(
            sizes.selectExpr(f"coalesce(sum(least(size, {most})), 0) AS allowed")), "bound")
        return bounded

    def count(self):
        """Counts the table, and writes all counts."""
        rows, coded = self.encode()
        self.write_numbers(rows, coded)
        counted = coded.where(self.job["counts"])
        for column in self.job.get("occurring", []):
            self.write(counted.select(f"c{column}").distinct(), "occurring", str(column))
        bounded = counted
        if self.job["max_rows"] > 0:
            bounded = self.bound(counted)
        for number, columns in enumerate(self.job.get("groups", [])):
            names = [f"c{column}" for column in columns]
            self.write(bounded.groupBy(*names).agg(F.count(F.lit(1)).alias("rows")), "groups", str(number))


def bigint(number):
    """Returns a number in SQL."""
    return f"CAST('{number}' AS BIGINT)"


def digits(*parts):
    """Returns the first 32 hexadecimal digits of the SHA-256 of bytes."""
    return F.substring(F.sha2(F.concat(*parts), 256), 1, 32)


def apply_settings(spark):
    """Gives the session the settings that decide what values are. It sets none that is as it should be, as a server that
    others run may let nobody set it."""
    for key, value in SETTINGS.items():
        try:
            if (spark.conf.get(key, None) or "").lower() != value.lower():
                spark.conf.set(key, value)
        except Exception as error:
            raise Refused(f"this Spark does not let the program set {key} to {value} ({type(error).__name__}), without which "
                          "values could be read as others; have it set for all, or run the job on a cluster of your own") from None


def run(spark, folder):
    """Does what job.json in a folder says."""
    folder = folder.rstrip("/")
    job = json.loads(spark.read.text(folder + "/job.json", wholetext=True).head()[0])
    if job["format"] != FORMAT:
        raise Refused("job.json is of another version of dprelease than this program; take both from one folder")
    apply_settings(spark)
    tables = [Table(spark, table, job["job"], folder) for table in job["tables"]]
    for number, table in enumerate(tables, 1):
        print(f"round {job['round']}, table {number} of {len(tables)}: {table.job['name']}", flush=True)
        try:
            if job["round"] == 1:
                table.write_values()
            else:
                table.count()
        finally:
            table.empty_copies()
    # What says that all is there is written last.
    name = "values_done" if job["round"] == 1 else "counts_done"
    write(spark.range(1).select(F.lit(job["job"]).alias("job"), F.lit(spark.version).alias("spark")), f"{folder}/{name}")
    print("done: now dprelease can go on with this folder", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: spark-submit dprelease_spark.py FOLDER")
    spark = SparkSession.builder.appName("dprelease").getOrCreate()
    try:
        run(spark, sys.argv[1])
    except Refused as refused:
        sys.exit(f"dprelease_spark.py: {refused}")
    except Exception as error:  # whose text may quote values
        sys.exit(f"dprelease_spark.py: stopped by {type(error).__name__}; Spark's own log says why, and may quote values")


if __name__ == "__main__":
    main()
