"""shakespeare-lm: the score is a perplexity whatever is handed in; hidden plays stay hidden."""

import importlib.metadata
import math
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from pytest_mlab.submission import read_answers
from tests.tasks.bundled import FOLDER, BundledTask, load_module, load_scorer

WORDS = ["<unk>", "<eol>", "the", "king"]
SCORER = FOLDER / "shakespeare-lm" / "score.py"
Tensors = dict[str, npt.NDArray[np.generic]]


class TestShakespeareLm(BundledTask):
    name = "shakespeare-lm"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        """Other words in one of the plays that are kept back."""
        texts = Path(str(importlib.metadata.distribution("shakespeare").locate_file("shksprdata")))
        shutil.copytree(texts, raw / "shksprdata")
        play = raw / "shksprdata" / "texts" / "macbeth_gut.txt"
        play.write_text(play.read_text().replace("the", "ye"))
        package = SimpleNamespace(locate_file=lambda name: raw / name)
        patch.setattr(importlib.metadata, "distribution", lambda name: package)

    def test_public_are_training_plays_and_the_vocabulary(self, data: PreparedData) -> None:
        files = sorted(path.name for path in data.public.iterdir())
        assert files == ["train.txt", "vocabulary.txt"]
        plays = (data.public / "train.txt").read_text().split("\n\n")
        assert len(plays) == 29

    def test_no_long_run_of_words_is_in_both_parts(self, data: PreparedData) -> None:
        """One of 24 words would start in training at a place that 5 divides, or up to 4 later."""
        train = (data.public / "train.txt").read_text().replace("\n", " <eol> ").split()
        hidden = list(read_answers(data.private / "labels.csv", "word").values())
        runs = {tuple(train[at : at + 20]) for at in range(0, len(train) - 19, 5)}
        assert not any(tuple(hidden[at : at + 20]) in runs for at in range(len(hidden) - 19))

    def test_the_vocabulary_is_made_of_the_training_plays_alone(self, data: PreparedData) -> None:
        words = (data.public / "vocabulary.txt").read_text().split("\n")[:-1]
        train = (data.public / "train.txt").read_text().split()
        assert {*train, "<eol>"} == set(words)
        assert (data.private / "vocabulary.txt").read_text().split("\n")[:-1] == words

    def test_instruction_and_origin_give_the_right_sizes(self, data: PreparedData) -> None:
        words = (data.public / "vocabulary.txt").read_text().split("\n")[:-1]
        hidden = read_answers(data.private / "labels.csv", "word")
        assert f"the {len(words):,} words" in (FOLDER / self.name / "instruction.md").read_text()
        assert f"{len(hidden):,} words" in (FOLDER / self.name / "README.md").read_text()

    def test_the_score_is_what_agents_measure(
        self, data: PreparedData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "data").symlink_to(data.public)
        monkeypatch.chdir(tmp_path)
        evaluation = load_module(FOLDER / self.name / "workspace" / "evaluation.py")
        plays = evaluation.read_plays()[:2]
        model = [
            (ngrams, 0.7 * counts / evaluation.sum_contexts(ngrams, counts))
            for ngrams, counts in (evaluation.count_ngrams(plays, length) for length in (1, 2, 3))
        ]
        evaluation.write_model(model, tmp_path / "model.safetensors")
        numbers = {word: number for number, word in enumerate(evaluation.WORDS)}
        hidden = read_answers(data.private / "labels.csv", "word").values()
        own = evaluation.measure_perplexity(model, [np.array([numbers[word] for word in hidden])])
        score = load_scorer(self.name)(tmp_path / "model.safetensors", data.private)
        assert score == pytest.approx(own, rel=1e-5)


def table(rows: dict[tuple[int, ...], float]) -> Tensors:
    """Give the tensors of n-grams; lengths without any get one without mass."""
    tensors: Tensors = {}
    for length in range(1, 1 + max(len(row) for row in rows)):
        chosen = {row: rows[row] for row in rows if len(row) == length} or {(0,) * length: 0.0}
        tensors[f"ngrams.{length}"] = np.array(list(chosen), dtype=np.int32)
        tensors[f"masses.{length}"] = np.array(list(chosen.values()), dtype=np.float32)
    return tensors


def measure(folder: Path, tensors: Tensors | bytes, text: str) -> float:
    """Score a model on a text of WORDS."""
    (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in WORDS))
    rows = "".join(f"{number},{word}\n" for number, word in enumerate(text.split(), start=1))
    (folder / "labels.csv").write_text(f"id,word\n{rows}")
    content = tensors if isinstance(tensors, bytes) else save(tensors)
    (folder / "model.safetensors").write_bytes(content)
    return load_scorer("shakespeare-lm")(folder / "model.safetensors", folder)


class TestMetric:
    def test_a_model_that_knows_nothing_has_the_perplexity_of_the_vocabulary(
        self, tmp_path: Path
    ) -> None:
        nothing = table({(0,): 0.0})
        assert measure(tmp_path, nothing, "the king <eol> the") == pytest.approx(len(WORDS))

    def test_a_case_worked_out_by_hand(self, tmp_path: Path) -> None:
        model = table({(2,): 0.4, (3,): 0.2, (2, 3): 0.75, (1, 2, 3): 0.5})
        # What is left of 1 without context, 0.4, is shared evenly among four words.
        the, king, end = 0.4 + 0.1, 0.2 + 0.1, 0.1
        king_after_the = 0.75 + 0.25 * king
        king_at_start = 0.5 + 0.5 * king_after_the
        expected = (the * king_at_start * end) ** (-1 / 3)
        assert measure(tmp_path, model, "the king <eol>") == pytest.approx(expected)

    def test_a_better_model_scores_lower(self, tmp_path: Path) -> None:
        text = "the king <eol> the king <eol>"
        scores = [measure(tmp_path, table({(2, 3): mass}), text) for mass in (0.0, 0.5, 0.9)]
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) == 3

    def test_certainty_that_is_right_has_perplexity_1(self, tmp_path: Path) -> None:
        model = table({(1, 2): 1.0, (2, 3): 1.0, (3, 1): 1.0})
        assert measure(tmp_path, model, "the king <eol> the king <eol>") == pytest.approx(1)

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        rows=st.dictionaries(
            st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple),
            st.sampled_from([0.0, 0.1, 0.2, 0.25]),
            min_size=1,
        ),
        history=st.lists(st.integers(0, 3), max_size=4),
    )
    def test_whatever_is_handed_in_the_probabilities_of_all_next_words_sum_to_1(
        self, tmp_path: Path, rows: dict[tuple[int, ...], float], history: list[int]
    ) -> None:
        """No model that is let through can claim more than there is."""
        scorer = load_module(SCORER)
        (tmp_path / "model.safetensors").write_bytes(save(table(rows)))
        try:
            model = scorer.read_model(tmp_path / "model.safetensors", len(WORDS))
        except InvalidSubmission:
            assume(False)
        following = [
            scorer.predict(model, np.array([*history, word]), len(WORDS))[-1]
            for word in range(len(WORDS))
        ]
        assert min(following) >= 0
        assert sum(following) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("tensors", "problem"),
    [
        pytest.param(b"\x80\x04N.", "cannot be read", id="a pickle"),
        pytest.param(b"", "cannot be read", id="nothing"),
        pytest.param({"weights": np.zeros(3)}, "left over: weights", id="other tensors"),
        pytest.param(table({(2,): 0.1}) | {"x": np.zeros(1)}, "left over: x", id="more"),
        pytest.param(
            {"ngrams.2": np.zeros((1, 2), "i4"), "masses.2": np.zeros(1, "f4")},
            "left over: masses.2, ngrams.2",
            id="a gap",
        ),
        pytest.param(table({(2, 2, 2, 2, 2): 0.5}), "left over: masses.5", id="too long"),
        pytest.param(
            {"ngrams.1": np.zeros((1, 1), "i4")}, "masses.1 has the shape", id="no masses"
        ),
        pytest.param(table({(4,): 0.5}), "outside of the vocabulary", id="no such word"),
        pytest.param(table({(-1,): 0.5}), "outside of the vocabulary", id="a negative word"),
        pytest.param(table({(2,): -0.5}), "negative or not finite", id="negative mass"),
        pytest.param(table({(2,): math.nan}), "negative or not finite", id="NaN"),
        pytest.param(table({(2,): 0.7, (3,): 0.7}), "at most 1 can be given", id="too much mass"),
        pytest.param(
            {"ngrams.1": np.array([[2], [2]], "i4"), "masses.1": np.zeros(2, "f4")},
            "the same row twice",
            id="a row twice",
        ),
        pytest.param(
            {"ngrams.1": np.array([[2.0]]), "masses.1": np.zeros(1)}, "is float64", id="types"
        ),
        pytest.param(
            {"ngrams.1": np.zeros((0, 1), "i4"), "masses.1": np.zeros(0, "f4")},
            "has the shape",
            id="no rows",
        ),
        pytest.param(table({(2,): 1.0}), "gives no probability", id="nothing left"),
    ],
)
def test_what_is_no_model_is_invalid(
    tmp_path: Path, tensors: Tensors | bytes, problem: str
) -> None:
    with pytest.raises(InvalidSubmission, match=re.escape(problem)):
        measure(tmp_path, tensors, "the king <eol>")
