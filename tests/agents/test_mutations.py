"""Mutations change one thing of a script, and what comes out is Python again."""

import ast
import textwrap
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_mlab.agents.mutations import fingerprint, list_mutations


def mutate(source: str) -> list[str]:
    """Give every mutated version of a source."""
    return [mutation.apply() for mutation in list_mutations(textwrap.dedent(source))]


class TestNumbers:
    def test_given_to_a_name_or_by_keyword_are_scaled_in_their_own_type(self) -> None:
        assert mutate("x = 10") == [f"x = {n}" for n in (1, 5, 20, 100, 11, 9)]
        assert mutate("fit(rate=0.5)") == [f"fit(rate={n})" for n in (0.05, 0.25, 1.0, 5.0)]

    def test_stay_above_zero_where_they_are_whole(self) -> None:
        assert mutate("x = 1") == ["x = 2", "x = 10"]

    @pytest.mark.parametrize(
        "source",
        [
            "fit(random_state=0)",
            "SEED = 3",
            "split(test_size=0.25)",
            "validation_fraction = 0.2",
            "fit(n_jobs=2, verbose=1)",
            "k_folds = 5",
            "print(round(x, ndigits=4))",
            "flag = True",
            "name = '10'",
            "fit(10)",
            "x = 1j",
            "x = 10 ** 400",
            f"x = {10**400}",
            "x = 1e308",
        ],
    )
    def test_that_decide_how_a_figure_is_measured_or_are_none_stay(self, source: str) -> None:
        assert mutate(source) == []

    def test_are_found_wherever_they_are(self) -> None:
        source = """
            # é: characters, not bytes
            class Net:
                rate = 0.5  # 0.5 here is a comment

                def fit(self):
                    '''rate = 0.5'''
                    return train(
                        alpha=(
                            4
                        ),
                    )
        """
        changed = mutate(source)
        assert len(changed) == 4 + 6
        assert all(version.count("é: characters, not bytes") == 1 for version in changed)
        assert any("rate = 0.25  # 0.5 here" in version for version in changed)


class TestEstimators:
    def test_are_replaced_and_imported(self) -> None:
        source = "from sklearn.tree import DecisionTreeClassifier as _\nm = SVC(C=2)\n"
        versions = mutate(source)
        assert (
            "from sklearn.naive_bayes import GaussianNB\n"
            "from sklearn.tree import DecisionTreeClassifier as _\nm = GaussianNB()\n"
        ) in versions

    def test_are_of_the_same_kind(self) -> None:
        mutations = list_mutations("m = Lasso(alpha=2)")
        names = {mutation.estimator for mutation in mutations if mutation.estimator}
        assert "Ridge" in names
        assert not any("Classif" in name for name in names)

    def test_come_before_numbers(self) -> None:
        ranks = {bool(m.estimator): m.rank for m in list_mutations("m = SVC(C=2)")}
        assert ranks[True] < ranks[False]

    # What an old scikit-learn asks of a new SciPy is none of our concern.
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.parametrize("name", ["SVC", "SVR"])
    def test_score_the_same_in_every_run(self, name: str) -> None:
        """Or what is kept would be a matter of luck, and a climb another each time."""
        source = f"""
            from sklearn.datasets import make_hastie_10_2
            from sklearn.svm import {name}
            rows, labels = make_hastie_10_2(600, random_state=0)
            said = {name}().fit(rows[:100], labels[:100]).predict(rows[100:])
        """
        for script in mutate(source):
            first: dict[str, Any] = {}
            second: dict[str, Any] = {}
            exec(script, first)
            exec(script, second)
            assert first["said"].tolist() == second["said"].tolist(), script

    @pytest.mark.parametrize(
        "head",
        [
            "",
            "from __future__ import annotations\n",
            "'''Doc.'''\nfrom __future__ import annotations\nimport os\n",
            "'''Doc.'''; from __future__ import annotations; import os; x = 3\n",
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n",
            "if True:\n    import os\n",
        ],
    )
    def test_are_imported_where_imports_may_stand(self, head: str) -> None:
        for version in mutate(f"{head}m = sklearn.svm.SVC()\n"):
            compile(version, "train.py", "exec")


def test_a_source_that_does_not_parse_has_no_mutations() -> None:
    assert mutate("def f(:") == mutate("x = '\0'") == []


class TestFingerprint:
    def test_is_that_of_what_is_done(self) -> None:
        assert fingerprint("import a\nx = 1  # one\n") == fingerprint("x = (1)")
        assert fingerprint("x = 1") != fingerprint("x = 2")

    def test_of_what_does_not_parse_is_its_text(self) -> None:
        assert fingerprint("def f(:") == "def f(:"


NUMBERS = st.integers(0, 10**20) | st.floats(0, 1e300, allow_nan=False)
TEXTS = st.text(st.sampled_from("aé\u2028\x0c\x1c'\"\\{}# "), max_size=5)
CALLS = st.sampled_from(["SVC", "svm.SVC", "Lasso", "fit", "DummyClassifier"])
SPACES = st.sampled_from(["", " ", "\n    ", " \\\n  ", "\x0c"])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """Draw an expression as people write them."""
    if depth == 0 or draw(st.booleans()):
        return draw(NUMBERS.map(repr) | TEXTS.map(repr))
    inner = draw(expressions(depth - 1))
    keyword = f"C={draw(SPACES) if depth == 2 else ''}{inner}"
    call = f"{draw(CALLS)}({draw(st.sampled_from(['', '1, ']))}{keyword})"
    return draw(
        st.sampled_from([call, f"({inner},)", f"[{call} for x in y]", f"{call} if a else 1"])
    )


STATEMENTS = st.builds(
    lambda form, value: form.format(value),
    st.sampled_from(
        [
            *("x = {}", "x: int = {}", "x = y = {}", "x = 1; y = {}", "if a:\n    rate = {}"),
            *(
                "print({})",
                "# {}",
                "import os",
                "'''\x0c\n'''; x = {}",
                "x = f'{{fit(C=3)}}'; y = {}",
            ),
        ]
    ),
    expressions(),
)


@settings(max_examples=150)
@given(st.lists(STATEMENTS, max_size=4), st.sampled_from(["\n", "\r\n", "\r"]))
@example(["x = '\u2028'; y = 3"], "\n")
@example(["x = '\x0c'", "y = 3"], "\n")
@example(["x = 3", "y = 4"], "\r")
@example(['x = f"""\n{fit(C=3)}"""', "y = 4"], "\n")
def test_whatever_parses_is_mutated_into_what_parses(lines: list[str], end: str) -> None:
    source = end.join(lines)
    try:
        before = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for mutation in list_mutations(source):
        changed = mutation.apply()
        assert ast.dump(ast.parse(changed)) != ast.dump(before)
