"""Small changes of a Python script: another number, another scikit-learn estimator."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

FACTORS = (0.1, 0.5, 2.0, 10.0)

CLASSIFIERS = {
    "RandomForestClassifier": "sklearn.ensemble",
    "ExtraTreesClassifier": "sklearn.ensemble",
    "HistGradientBoostingClassifier": "sklearn.ensemble",
    "SVC": "sklearn.svm",
    "KNeighborsClassifier": "sklearn.neighbors",
    "LogisticRegression": "sklearn.linear_model",
    "GaussianNB": "sklearn.naive_bayes",
    "LinearDiscriminantAnalysis": "sklearn.discriminant_analysis",
}
REGRESSORS = {
    "RandomForestRegressor": "sklearn.ensemble",
    "ExtraTreesRegressor": "sklearn.ensemble",
    "HistGradientBoostingRegressor": "sklearn.ensemble",
    "GradientBoostingRegressor": "sklearn.ensemble",
    "SVR": "sklearn.svm",
    "KNeighborsRegressor": "sklearn.neighbors",
    "LinearRegression": "sklearn.linear_model",
    "Ridge": "sklearn.linear_model",
    "LassoCV": "sklearn.linear_model",
    "HuberRegressor": "sklearn.linear_model",
}
"""Estimators that do something sensible with their defaults, and where they are imported from."""

_DRAWING = {
    *("RandomForestClassifier", "ExtraTreesClassifier", "HistGradientBoostingClassifier"),
    *("RandomForestRegressor", "ExtraTreesRegressor", "HistGradientBoostingRegressor"),
    "GradientBoostingRegressor",
}
"""Those that draw random numbers: without a seed, a run would score by luck, and none twice."""

_KNOWN_CLASSIFIERS = {
    *CLASSIFIERS,
    "DecisionTreeClassifier",
    "DummyClassifier",
    "LinearSVC",
    "SGDClassifier",
    "RidgeClassifier",
    "AdaBoostClassifier",
    "Perceptron",
    "BernoulliNB",
    "MultinomialNB",
    "NearestCentroid",
    "GradientBoostingClassifier",
}
_KNOWN_REGRESSORS = {
    *REGRESSORS,
    "DecisionTreeRegressor",
    "DummyRegressor",
    "Lasso",
    "ElasticNet",
    "SGDRegressor",
    "LinearSVR",
    "AdaBoostRegressor",
    "MLPRegressor",
    "BayesianRidge",
}


@dataclass(frozen=True)
class Edit:
    """The text between two offsets of a source becomes another."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Mutation:
    """One change of a source, which may take several edits.

    Mutations of a lower ``rank`` change more and are worth trying first; ``estimator`` is the one
    that comes in, if one does.
    """

    source: str
    edits: tuple[Edit, ...]
    rank: int
    estimator: str = ""

    def apply(self) -> str:
        """Give the changed source."""
        changed = self.source
        for edit in sorted(self.edits, key=lambda edit: edit.start, reverse=True):
            changed = changed[: edit.start] + edit.text + changed[edit.end :]
        return changed


def list_mutations(source: str) -> list[Mutation]:
    """Give every change we know of for a source, in its order; none where it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    return [*_list_swaps(source, tree), *_list_numbers(source, tree)]


def fingerprint(source: str) -> str:
    """Give what a script does, as text that is the same whatever it imports without need."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return source
    return "".join(
        ast.dump(node) for node in body if not isinstance(node, ast.Import | ast.ImportFrom)
    )


def _list_swaps(source: str, tree: ast.Module) -> Iterator[Mutation]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = _called_name(node)
        for known, choices in (
            (_KNOWN_CLASSIFIERS, CLASSIFIERS),
            (_KNOWN_REGRESSORS, REGRESSORS),
        ):
            if name not in known or not _is_at_its_place(source, node):
                continue
            for other, module in choices.items():
                if other != name:
                    seed = "random_state=0" if other in _DRAWING else ""
                    call = Edit(*_span(source, node), f"{other}({seed})")
                    edits = (call, _import(source, tree, module, other))
                    yield Mutation(source, edits, rank=0, estimator=other)


def _import(source: str, tree: ast.Module, module: str, name: str) -> Edit:
    """Import a name before the first import that is not of the future."""
    statement = f"from {module} import {name}"
    place = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            place = _span(source, node)[1]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            start, _ = _span(source, node)
            return Edit(start, start, f"{statement}\n")
    return Edit(place, place, f"; {statement}" if place else f"{statement}\n")


def _called_name(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _list_numbers(source: str, tree: ast.Module) -> Iterator[Mutation]:
    """Scale the numbers given by keyword or to a name, wherever they are hyper-parameters."""
    for node in ast.walk(tree):
        value: ast.expr | None = None
        name = ""
        if isinstance(node, ast.keyword):
            name, value = node.arg or "", node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
        if (
            isinstance(value, ast.Constant)
            and _is_number(value.value)
            and not _NOT_TUNED.search(name.lower())
            and _is_at_its_place(source, value)
        ):
            place = _span(source, value)
            for text in _neighbours(value.value):
                yield Mutation(source, (Edit(*place, text),), rank=1)


# Seeds, and what decides how a figure is measured: a change there looks better by luck alone.
_NOT_TUNED = re.compile("random|seed|jobs|verbose|axis|test|valid|split|fold|decimals|digits")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _neighbours(value: float) -> list[str]:
    """Give numbers around a number, in its own type, none twice."""
    try:
        scaled = [value * factor for factor in FACTORS]
        whole = [max(1, round(number)) for number in scaled]
    except OverflowError:
        return []  # near the end of what a float can be
    if isinstance(value, int):
        near = [*whole, value + 1, max(1, value - 1)]
        return [repr(number) for number in dict.fromkeys(near) if number != value]
    return [repr(number) for number in scaled if number != value]


_LINE = re.compile(r".*?(?:\r\n|\r|\n|\Z)", re.DOTALL)


def _is_at_its_place(source: str, node: ast.expr) -> bool:
    """Tell whether a node is where it says: Python 3.11 misplaces some within f-strings."""
    try:
        start, end = _span(source, node)
        found = ast.parse(f"({source[start:end]}\n)", mode="eval").body
    except (SyntaxError, ValueError, IndexError):
        return False
    return ast.dump(found) == ast.dump(node)


def _span(source: str, node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Give a node's place in the source, in characters."""
    # Python's lines: str.splitlines would end one at a form feed, too.
    lines = _LINE.findall(source)

    def offset(line: int, column: int) -> int:
        before = sum(map(len, lines[: line - 1]))
        return before + len(lines[line - 1].encode()[:column].decode())

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)
