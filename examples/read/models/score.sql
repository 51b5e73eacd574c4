-- Predict the rows of a CSV file by a model of a release, in DuckDB:
--
--   SET VARIABLE model = 'risk.json'; SET VARIABLE rows = 'stays.csv'; .read score.sql
--
-- The answer has the number of each row and its prediction. A value that is in no category of the model is an error.
CREATE OR REPLACE TEMP MACRO number(kind, text) AS CASE WHEN kind IN ('date', 'timestamp')
    THEN epoch_us(TRY_CAST(text AS TIMESTAMP)) ELSE TRY_CAST(text AS DOUBLE) END;
CREATE OR REPLACE TEMP TABLE model AS -- of a regression, the weights of its terms are the intercept and the scores
    SELECT * REPLACE (coalesce(link, if(method = 'logistic', 'logit', 'identity')) AS link,
        coalesce(intercept, terms[1].weight) AS intercept,
        coalesce(least, '-inf') AS least, coalesce(most, 'inf') AS most)
    FROM read_json(getvariable('model'), columns = {method: 'VARCHAR', link: 'VARCHAR', least: 'DOUBLE', most: 'DOUBLE',
        intercept: 'DOUBLE', terms: 'STRUCT(weight DOUBLE)[]', columns: 'STRUCT(name VARCHAR, "values" STRUCT(
        "column" VARCHAR, "type" VARCHAR, least VARCHAR[], most VARCHAR, "of" VARCHAR[][], missing VARCHAR),
        categories VARCHAR[], scores DOUBLE[])[]',
        pairs: 'STRUCT("columns" VARCHAR[], scores DOUBLE[][])[]'});
CREATE OR REPLACE TEMP TABLE category AS -- one row for each category of each column, and one for a number
    SELECT c.name, c."values" AS v, unnest(range(1, size + 1)) AS k, c.categories[k] AS code,
        coalesce(c.scores[k], terms[1 + before + k].weight) AS score
    FROM (SELECT *, coalesce(len(c.categories), 1) AS size, sum(size) OVER (ORDER BY place)::BIGINT - size AS before
        FROM (SELECT unnest(columns) AS c, unnest(range(len(columns))) AS place, terms FROM model));
CREATE OR REPLACE TEMP TABLE input AS
    SELECT row_number() OVER () AS nr, * FROM read_csv(getvariable('rows'), all_varchar = true, parallel = false);
WITH cell AS (FROM input UNPIVOT INCLUDE NULLS (text FOR col IN (COLUMNS(* EXCLUDE nr)))),
part AS (
    SELECT nr, name, k, score * if(code IS NULL, number('integer', text), 1) AS score
    FROM cell JOIN category ON col = name AND text = code
        OR v."column" = col AND (text IS NULL AND v.missing = code OR list_contains(v."of"[k], text)
            OR number(v.type, text) >= number(v.type, v.least[k]) AND k <= len(v.least)
                AND (v.type <> 'integer' OR number(v.type, text) = floor(number(v.type, text)))
                AND CASE WHEN k < len(v.least) THEN number(v.type, text) < number(v.type, v.least[k + 1])
                    ELSE number(v.type, text) <= number(v.type, v.most) END)),
together AS (SELECT a.nr, sum(pair.scores[a.k][b.k]) AS added
    FROM (SELECT unnest(pairs) AS pair FROM model) JOIN part AS a ON a.name = pair."columns"[1]
        JOIN part AS b ON b.nr = a.nr AND b.name = pair."columns"[2] GROUP BY a.nr),
total AS (SELECT nr, count(name) AS found, count(DISTINCT name) AS names,
    sum(score) + coalesce(any_value(added), 0) AS sum
    FROM input LEFT JOIN part USING (nr) LEFT JOIN together USING (nr) GROUP BY nr)
SELECT nr AS row, CASE WHEN (found, names) <> (len(columns), len(columns))
    THEN error('row ' || nr || ' is in no category of the model')::DOUBLE
    ELSE least(greatest(CASE link WHEN 'logit' THEN 1 / (1 + exp(-(intercept + sum)))
    WHEN 'log' THEN exp(intercept + sum) ELSE intercept + sum END, model.least), model.most) END AS prediction
FROM total, model ORDER BY nr;
