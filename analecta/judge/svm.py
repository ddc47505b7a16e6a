"""The judge of BINGO! (B3-B7): at each node of the topic tree a linear support vector machine against the siblings.

Beyond the paper:
- A node's features are those that tell most of the topic, and as many that tell most of its rivals: words that speak
  against a topic count too. One topic from 10 examples, average precision 0.59 without those and 0.64 with them.
- A page's vector is brought to length 1 together with the words that are no features, each of which counts as
  `outside` of an average feature; else a page is near the only topic whatever else it says (0.53, and 0.57 so).
- Confidence is the distance from the hyperplane, as in the paper, brought to [0, 1] by calibration.py.

All nodes are one matrix: a batch of pages is judged by one product.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np
from scipy.sparse import csr_matrix

from analecta.arrays import Array, Bools, Floats, Ints
from analecta.judge.base import TrainedJudge, strongest
from analecta.judge.calibration import confidence, cross_validated, line
from analecta.judge.features import WINDOW, Features, most_telling, page_frequency, smooth_idf, tf_idf, unit
from analecta.judge.training_set import PAGES, TrainingSet, material
from analecta.judge.tree import Tree
from analecta.model import Example, Page, Verdict
from analecta.text.tokens import Words, words

# --- hyperplane ------------------------------------------------------------------------------------------------------
# The linear support vector machine, solved in its dual, and what the dual tells: Joachims' xi-alpha estimate (B7).
#
# The training set of a node is a few hundred pages, so all their scalar products fit into one small matrix. libsvm
# solves on that in 5 ms for 600 pages (liblinear takes 8 ms), and gives the alphas that the estimate needs.


_RHO = 2.0  # Joachims' constant for the bound
_PROMISE = 0.1  # F1 below which xi-alpha says nothing


class Estimate(NamedTuple):
    """How good a classifier will be on pages not seen, as known from its training alone."""

    precision: float
    recall: float
    error: float

    @property
    def f1(self) -> float:
        """Precision and recall in one: a classifier that says yes to one page only is precise, and no use."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-12)


class TreeQuality(NamedTuple):
    """The mean F1 over the nodes of a tree, by xi-alpha and by cross-validation."""

    promised: float
    seen: float


def best_of(qualities: Sequence[TreeQuality]) -> int:
    """Which is best: by xi-alpha, if that promises something of every one, else by cross-validation."""
    by_promise = all(q.promised >= _PROMISE for q in qualities)
    marks = [q.promised if by_promise else q.seen for q in qualities]
    return marks.index(max(marks))


class Hyperplane(NamedTuple):
    """A separating hyperplane in the dual: `alphas` carry the sign of their side."""

    alphas: Floats
    bias: float

    def scores(self, products: Floats) -> Floats:
        """Distances of all examples, in units of the margin."""
        return np.asarray(products @ self.alphas + self.bias, np.float64)


def separate(products: Floats, yes: Bools, costs: Floats) -> Hyperplane:
    """The plane with the widest margin between yes and no; an example may cost so much at most."""
    some = costs > 0
    if not (yes[some].any() and (~yes[some]).any()):
        return Hyperplane(np.zeros(len(yes)), 1.0 if yes[some].any() else -1.0)
    svm = import_module("sklearn.svm")  # late: it takes 1.1 s and 73 MB, and processes that only judge do without
    machine = svm.SVC(kernel="precomputed", C=1.0, tol=1e-4)
    chosen = np.flatnonzero(some)
    # Its checks take longer than its work.
    with import_module("sklearn").config_context(assume_finite=True, skip_parameter_validation=True):
        machine.fit(products[np.ix_(chosen, chosen)], yes[chosen], sample_weight=costs[chosen])
    alphas = np.zeros(len(yes))
    alphas[chosen[machine.support_]] = machine.dual_coef_[0]
    return Hyperplane(alphas, float(machine.intercept_[0]))


def unseen_scores(products: Floats, yes: Bools, costs: Floats) -> Floats:
    """The scores of the examples by planes that were found without them."""
    return cross_validated(yes, lambda some: separate(products, yes, costs * some).scores(products))


def estimate(said: Bools, yes: Bools) -> Estimate:
    """How good a classifier is that has `said` yes to these examples."""
    right, let_in, missed = int((said & yes).sum()), int((said & ~yes).sum()), int((~said & yes).sum())
    return Estimate(
        right / max(right + let_in, 1), right / max(int(yes.sum()), 1), (let_in + missed) / max(len(yes), 1)
    )


def xi_alpha(plane: Hyperplane, products: Floats, yes: Bools) -> Estimate:
    """Joachims' estimate: an example with 2 alpha R^2 + xi >= 1 might be an error if it were left out.

    It never promises too much, and with fewer than some 50 examples of a topic promises little: nearly each of them
    carries the plane then, and the precision comes out as 0.
    """
    margin = np.where(yes, 1.0, -1.0) * plane.scores(products)
    slack = np.maximum(0.0, 1.0 - margin)
    radius = float((products.diagonal()[:, None] - products).max(initial=0.0))
    doubtful = _RHO * np.abs(plane.alphas) * radius + slack >= 1
    return estimate(yes ^ doubtful, yes)


# --- svm -------------------------------------------------------------------------------------------------------------


class SvmOptions(msgspec.Struct, frozen=True):
    """Of several numbers of features `kept`, the xi-alpha estimate chooses one (B7)."""

    spaces: Sequence[str] = ("terms",)
    threshold: float = 0.5
    overlap: int = 1
    candidates: int = 5000
    kept: int | Sequence[int] = 2000
    window: int = WINDOW
    stock: int = PAGES
    cost: float = 1.0
    outside: float = 0.5


class Svm(TrainedJudge[SvmOptions]):
    """Judges pages by linear support vector machines, top down."""

    kind = "svm"
    options_type = SvmOptions
    saved_arrays = ("idf_", "planes_", "bias_", "middle_", "slope_", "known_", "estimates_", "observed_")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(self.options.spaces) & {"anchors", "neighbours"}

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn a hyperplane for each node of the topic tree; examples of topic -1 are of OTHERS."""
        given = material(examples, len(topics), self.options.stock)
        if isinstance(self.options.kept, int):
            return self._learn(given, topics, self.options.kept)
        numbers = sorted(self.options.kept)
        qualities = [self._learn(given, topics, kept).quality() for kept in numbers]
        return self._learn(given, topics, numbers[best_of(qualities)])

    def quality(self) -> TreeQuality:
        """How good it will be; nodes of which nothing could be learned count as 0."""
        nodes = max(len(self.tree_), 1)
        promised, seen = ([Estimate(*row).f1 for row in rows.tolist()] for rows in (self.estimates_, self.observed_))
        return TreeQuality(sum(promised) / nodes, sum(seen) / nodes)

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        nodes = np.nan_to_num(self.confidences(batch, anchors, neighbours), nan=0.0)
        return self.tree_.verdicts(nodes, self.options.threshold, self.options.overlap)

    def confidences(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> Floats:
        """Pages x nodes: how sure each node is; not a number where it has nothing to go by."""
        vectors = self._vectors(*self.features_.count(batch, anchors, neighbours))
        sure = confidence(vectors @ self.planes_ + self.bias_, self.middle_, self.slope_)
        if not self.known_.all():
            sure[:, ~self.known_] = np.nan
        sure[np.diff(vectors.indptr) == 0] = np.nan
        return sure

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The features that speak for the surest topic, and how far each moves the page from the hyperplane."""
        batch = words([page.text])
        nodes = np.nan_to_num(self.confidences(batch), nan=0.0)
        if not nodes.any():
            return []
        node = int(self.tree_.node_of[self.tree_.of_topics(nodes)[0].argmax()])
        vector = self._vectors(*self.features_.count(batch))
        made = vector.data * self.planes_[vector.indices, node]
        return strongest((self._names[i] for i in vector.indices.tolist()), made.tolist())

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        facts, arrays = super().state()
        for i, space in enumerate(self.features_.spaces):
            arrays |= {f"{i}_{name}": array for name, array in space.arrays().items()}
        return facts | {"names": [space.names for space in self.features_.spaces]}, arrays

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        self.tree_, self.features_ = Tree(facts["topics"]), Features(self.options.spaces, self.options.window)
        for i, (space, names) in enumerate(zip(self.features_.spaces, facts["names"], strict=True)):
            space.restore(names, arrays, f"{i}_")
        return super().restore(facts, arrays)

    def _learn(self, given: TrainingSet, topics: Sequence[str], kept: int) -> Self:
        self.topics_, self.tree_ = list(topics), Tree(topics)
        self.features_ = Features(self.options.spaces, self.options.window)
        found = self.features_.learn(given.examples)
        told = np.diff(found.indptr) > 0  # an example to which no link leads teaches nothing about anchors
        sides = [
            (self.tree_.inside(n, given.labels) & told, self.tree_.rivals(n, given.labels) & told)
            for n in range(len(self.tree_))
        ]
        columns = [self._columns(found, given.weights, yes, no, kept) for yes, no in sides]
        union = np.unique(np.concatenate([*columns, np.zeros(0, np.int64)])).astype(np.int64)
        self.features_.keep(union)
        found, others = self.features_.count_examples(given.examples)
        self.idf_ = smooth_idf(len(given.examples), page_frequency(found))
        nodes = len(self.tree_)
        self.planes_ = np.zeros((len(self.idf_), nodes))
        self.bias_, self.middle_, self.slope_ = (np.zeros(nodes) for _ in range(3))
        self.known_ = np.zeros(nodes, np.bool_)
        self.estimates_, self.observed_ = np.zeros((nodes, 3)), np.zeros((nodes, 3))
        vectors = self.prepare()._vectors(found, others)
        for node, (yes, no) in enumerate(sides):
            if yes.any() and no.any():
                self._learn_node(node, vectors, np.searchsorted(union, columns[node]), given, yes, yes | no)
        return self

    def _columns(self, found: csr_matrix, weights: Floats, yes: Bools, no: Bools, kept: int) -> Ints:
        """The features of a node: the most telling of the topic and of its rivals (B3)."""
        if not (yes.any() and no.any()):
            return np.zeros(0, np.int64)
        some = yes | no
        candidates = self.options.candidates
        return np.union1d(
            *(most_telling(found[some], side[some], weights[some], candidates, kept) for side in (yes, no))
        )

    def _learn_node(
        self, node: int, vectors: csr_matrix, columns: Ints, given: TrainingSet, yes: Bools, some: Bools
    ) -> None:
        rows = vectors[some][:, columns]
        products = (rows @ rows.T).toarray()
        yes, stock, costs = yes[some], given.stock[some], self.options.cost * given.weights[some]
        plane = separate(products, yes, costs)
        unseen = unseen_scores(products, yes, costs)
        self.planes_[columns, node], self.bias_[node] = rows.T @ plane.alphas, plane.bias
        self.middle_[node], self.slope_[node] = line(yes, stock, plane.scores(products), unseen)
        self.known_[node] = True
        heard = yes.sum() / self.tree_.inside(node, given.labels).sum()  # examples it has nothing to go by are missed
        self.estimates_[node] = xi_alpha(plane, products, yes)
        self.observed_[node] = estimate(unseen >= self.middle_[node], yes)
        self.estimates_[node, 1] *= heard
        self.observed_[node, 1] *= heard

    def prepare(self) -> Self:
        self._names = self.features_.names
        self._other_word = self.options.outside * float((self.idf_**2).mean()) if len(self.idf_) else 0.0
        return self

    def _vectors(self, found: csr_matrix, others: Floats) -> csr_matrix:
        return unit(tf_idf(found, self.idf_), self._other_word * others)
