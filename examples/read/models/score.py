"""Predict the rows of a CSV file by a model of a release, without dprelease:

    python3 score.py risk.json stays.csv > predicted.csv

A value that is in no category of the model stops it: nothing is guessed.
"""
import bisect, csv, datetime, fractions, itertools, json, math, sys

def number(kind, text):
    return datetime.datetime.fromisoformat(text) if kind in ("date", "timestamp") else fractions.Fraction(text)

def category(column, row):
    """The index of the category of a row, by its name or by the value that it is made of."""
    values = column.get("values", {})
    if row.get(column["name"]) in column.get("categories", ()):
        return column["categories"].index(row[column["name"]])
    text = row[values.get("column", column["name"])]
    if text == "" and "missing" in values:
        return column["categories"].index(values["missing"])
    if "of" in values:
        return next(k for k, of in enumerate(values["of"]) if text in of)
    kind, x = values.get("type"), number(values["type"], text)
    least = [number(kind, edge) for edge in values["least"]]
    if x < least[0] or x > number(kind, values["most"]) or kind == "integer" and x != int(x):
        raise ValueError("beyond the range")
    return bisect.bisect_right(least, x) - 1

def additive(regression):
    """A regression as an additive model: its weights are scores. A number has one, and no categories."""
    weights = iter([term["weight"] for term in regression["terms"]])
    link = "logit" if regression["method"] == "logistic" else "identity"
    return {"intercept": next(weights), "link": link, "least": -math.inf, "most": math.inf,
            "columns": [{**c, "scores": list(itertools.islice(weights, len(c.get("categories", [0]))))}
                        for c in regression["columns"]]}

def score(column, row, code):
    added = column["scores"][code]
    return added if "categories" in column else added * float(number("integer", row[column["name"]]))

def predict(model, row):
    codes = {c["name"]: category(c, row) for c in model["columns"]}
    total = model["intercept"] + sum(score(c, row, codes[c["name"]]) for c in model["columns"])
    for pair in model.get("pairs", ()):
        first, second = pair["columns"]
        total += pair["scores"][codes[first]][codes[second]]
    mean = {"logit": lambda: 1 / (1 + math.exp(-total)), "log": lambda: math.exp(total), "identity": lambda: total}
    return min(max(mean[model["link"]](), model["least"]), model["most"])

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        model = json.load(f)
    model = additive(model) if "method" in model else model
    with open(sys.argv[2], encoding="utf-8-sig", newline="") as f:
        rows = csv.DictReader(f)
        out = csv.writer(sys.stdout)
        out.writerow([*rows.fieldnames, "prediction"])
        for at, row in enumerate(rows, 1):
            try:
                out.writerow([*row.values(), repr(predict(model, row))])
            except (KeyError, StopIteration, ValueError) as error:
                sys.exit(f"{sys.argv[2]}: row {at} is in no category of the model ({error!r})")
