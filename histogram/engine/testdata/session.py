"""A Spark session that Go tests hold open: it reads a JSON object from each line of its input, and answers each with a
line. It is for tests only."""

import json
import sys
import traceback

sys.path.insert(0, sys.argv[1])
import dprelease_spark  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

builder = SparkSession.builder.master("local[2]").appName("tests").config("spark.sql.warehouse.dir", sys.argv[2])
builder = builder.config("spark.sql.shuffle.partitions", "3").config("spark.ui.enabled", "false")
for setting in sys.argv[3:]:
    key, value = setting.split("=", 1)
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
answers = sys.stdout
sys.stdout = sys.stderr
for line in sys.stdin:
    asked = json.loads(line)
    answer = ""
    try:
        if "run" in asked:  # the job of a folder
            dprelease_spark.RUN = dprelease_spark.uuid.uuid4().hex
            dprelease_spark.run(spark, asked["run"])
        elif "rows" in asked:  # a table of rows that are texts in a file of JSON lines
            texts = spark.read.schema(asked["schema"]).json(asked["rows"])
            texts.selectExpr(*asked["select"]).repartition(3).write.mode("overwrite").saveAsTable(asked["table"])
        else:
            spark.sql(asked["sql"])
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    print(json.dumps(answer), file=answers, flush=True)
