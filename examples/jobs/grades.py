# Term report for the faculty office. Mostly SQL, since the office likes to read it.
#
#   GRADES_HOME=/data/grades python grades.py 2026S
#
# Reads (or, the first time, invents) $GRADES_HOME/scores and $GRADES_HOME/students,
# writes honours, retakes, deans_list and improved next to them.
import os
import random
import sys

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf
from pyspark.sql.types import IntegerType

HOME = os.environ.get("GRADES_HOME", "/tmp/grades")
PASS_MARK = 50

spark = (
    SparkSession.builder.appName("grades")
    .config("spark.sql.shuffle.partitions", 2)
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
)


# ---------------------------------------------------------------- functions for SQL


@pandas_udf("double")
def best_score(score: pd.Series) -> float:
    best = -1.0
    for s in score:
        if s > best:
            best = s
    return best


@pandas_udf(IntegerType())
def fails(score: pd.Series) -> int:
    # a missing score is a no-show, which is dealt with elsewhere
    n = 0
    for s in score:
        if s < PASS_MARK:
            n = n + 1
    return n


@pandas_udf("int")
def top_marks(grade: pd.Series) -> int:
    n = 0
    for g in grade:
        if g == "A+" or g == "A":
            n += 1
    return n


def letter(score):
    if score is None:
        return None
    if score >= 90:
        return "A"
    if score >= 75:
        return "B"
    return "C"


spark.udf.register("best_score", best_score)
spark.udf.register("fails", fails)
spark.udf.register("top_marks", top_marks)
spark.udf.register("letter", letter, "string")


# ---------------------------------------------------------------- input


def invent(seed=2026):
    rng = random.Random(seed)
    students = [(i, f"student {i}", rng.choice(["math", "law", None])) for i in range(80)]
    scores = []
    for sid, _, _ in students:
        for course in rng.sample(["alg", "ana", "sta", "top", "log"], rng.randrange(1, 6)):
            for attempt in range(1, rng.randrange(2, 5)):
                points = [min(100.0, rng.gauss(68, 16)) for _ in range(8)]
                score = rng.choice([None, float("nan"), *points])
                grade = rng.choice(["A+", "A", "B", "C", "F", None])
                term = rng.choice(["2026S", "2025W"])
                scores.append((sid, course, term, attempt, score, grade))
    spark.createDataFrame(students, "student_id bigint, name string, faculty string").coalesce(
        1
    ).write.parquet(f"{HOME}/students")
    spark.createDataFrame(
        scores,
        "student_id bigint, course string, term string, attempt int, score double, grade string",
    ).coalesce(2).write.parquet(f"{HOME}/scores")


if not os.path.exists(f"{HOME}/scores"):
    invent()

term = sys.argv[1] if len(sys.argv) > 1 else "2026S"

spark.read.parquet(f"{HOME}/students").createOrReplaceTempView("students")
spark.read.parquet(f"{HOME}/scores").createOrReplaceTempView("all_scores")
spark.sql(f"CREATE OR REPLACE TEMP VIEW scores AS SELECT * FROM all_scores WHERE term = '{term}'")


# ---------------------------------------------------------------- reports

honours = spark.sql("""
    SELECT student_id, course, best_score(score) AS best
    FROM scores
    GROUP BY student_id, course
    HAVING best >= 85
""")

retakes = spark.sql("""
    WITH failed AS (
        SELECT student_id, fails(score) AS failed FROM scores GROUP BY student_id
    )
    SELECT s.student_id, s.name, f.failed
    FROM failed f JOIN students s ON s.student_id = f.student_id
    WHERE f.failed > 0
""")

deans_list = spark.sql("""
    SELECT * FROM (
        SELECT student_id, top_marks(grade) AS tops FROM scores GROUP BY student_id
    ) WHERE tops >= 1
""")

improved = spark.sql("""
    SELECT student_id, course, max(attempt) AS attempts
    FROM scores GROUP BY student_id, course HAVING max(attempt) > 2
""")

straight = spark.sql("SELECT student_id, course, attempt, letter(score) AS l FROM scores")
straight.createOrReplaceTempView("lettered")
straight_a = spark.sql("SELECT student_id, course, attempt FROM lettered WHERE l = 'A'")

for name, df in [
    ("honours", honours),
    ("retakes", retakes),
    ("deans_list", deans_list),
    ("improved", improved),
    ("straight_a", straight_a),
]:
    df.write.mode("overwrite").parquet(f"{HOME}/{name}")
    print(name, df.count())

best = honours.orderBy("best", ascending=False).toPandas()
best.to_csv(f"{HOME}/honours.csv", index=False)
print("best of", term, "has", round(best["best"].iloc[0], 2), "points")
