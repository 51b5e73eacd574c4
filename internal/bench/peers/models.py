# Fits the models of a peer to the training rows of one split, one for each ε, and scores the test rows:
#
#   interpret    DPExplainableBoostingClassifier as it comes, with the public bounds of numbers
#   diffprivlib  LogisticRegression as it comes, with the public bound on the norm of a row; (ε, 0)-DP
#   opacus       DP-SGD of a logistic regression: batches of 1024 rows in the mean, gradients clipped to norm 1, as in
#                its introduction; 20 epochs and learning rates that did well in a search among training rows of Adult,
#                which no budget pays for
#
# The job is the first argument, as JSON; what is printed is JSON. Only the fit itself is timed.
import csv
import importlib.metadata
import json
import sys
import time
import warnings

import numpy as np

job = json.loads(sys.argv[1])
warnings.simplefilter("ignore")


def read(path):
    """Returns the columns of a file, as texts, and whether each row is of the predicted class."""
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    texts = {c["name"]: [r[c["name"]] for r in rows] for c in job["columns"]}
    return texts, np.array([r[job["target"]] == job["positive"] for r in rows], dtype=int)


def features(texts):
    """Returns numbers from 0 to 1 by their public ranges, and an indicator of each public category."""
    parts = []
    for c in job["columns"]:
        if "values" in c:
            parts.append(np.array(texts[c["name"]])[:, None] == np.array(c["values"])[None, :])
        else:
            parts.append((np.array(texts[c["name"]], dtype=float)[:, None] - c["low"]) / (c["high"] - c["low"]))
    return np.concatenate(parts, axis=1).astype(float)


def interpret(epsilon):
    """Returns a function that fits a model, and one that scores by it. DP-EBM needs no squares of numbers."""
    from interpret.privacy import DPExplainableBoostingClassifier

    columns = [c for c in job["columns"] if not c.get("linear")]
    table = lambda texts: np.array([[float(x) for x in texts[c["name"]]] if "values" not in c else texts[c["name"]]
                                    for c in columns], dtype=object).T
    model = DPExplainableBoostingClassifier(
        feature_names=[c["name"] for c in columns],
        feature_types=["nominal" if "values" in c else "continuous" for c in columns],
        privacy_bounds={c["name"]: (c["low"], c["high"]) for c in columns if "values" not in c},
        epsilon=epsilon, delta=job["delta"])
    x, rest = table(train), table(test)
    return lambda: model.fit(x, positive), lambda: model.decision_function(rest)


def diffprivlib(epsilon):
    from diffprivlib.models import LogisticRegression

    # Each column adds at most 1 to the squared norm of a row.
    model = LogisticRegression(epsilon=epsilon, data_norm=len(job["columns"]) ** .5)
    x, rest = features(train), features(test)
    return lambda: model.fit(x, positive), lambda: model.decision_function(rest)


def opacus(epsilon):
    import torch
    from opacus import PrivacyEngine

    class Rows(torch.utils.data.TensorDataset):
        def __getitems__(self, at):  # a whole batch at once, which is several times as fast
            return [tuple(t[at] for t in self.tensors)]

    torch.set_num_threads(1)  # faster than more, with so few features
    epochs = 20
    x, rest = (torch.tensor(features(t), dtype=torch.float32) for t in (train, test))
    model = torch.nn.Linear(x.shape[1], 1)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)

    def fit():
        rows = Rows(x, torch.tensor(positive[:, None], dtype=torch.float32))
        private, step, batches = PrivacyEngine().make_private_with_epsilon(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=min(12 * epsilon, 8)),
            data_loader=torch.utils.data.DataLoader(rows, batch_size=1024, collate_fn=lambda batch: batch[0]),
            epochs=epochs, target_epsilon=epsilon, target_delta=job["delta"], max_grad_norm=1.0)
        loss = torch.nn.BCEWithLogitsLoss()
        for _ in range(epochs):
            for batch, label in batches:
                step.zero_grad()
                loss(private(batch), label).backward()
                step.step()

    return fit, lambda: model(rest).detach().numpy()[:, 0]


(train, positive), (test, _) = read(job["train"]), read(job["test"])
fits = []
for epsilon in job["epsilons"]:
    fit, score = {"interpret": interpret, "diffprivlib": diffprivlib, "opacus": opacus}[job["peer"]](epsilon)
    began = time.perf_counter()
    fit()
    seconds = time.perf_counter() - began
    fits.append({"seconds": seconds, "scores": [float(s) for s in score()]})
package = {"interpret": "interpret-core"}.get(job["peer"], job["peer"])
json.dump({"version": importlib.metadata.version(package), "fits": fits}, sys.stdout)
