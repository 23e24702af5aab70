"""CLRS: the sampler and the metric are dm-clrs' own; the scorer runs what is handed in."""

import importlib
import importlib.util
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import save
from scipy.sparse.csgraph import shortest_path  # type: ignore[import-untyped]

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import FOLDER, BundledTask, load_module, load_scorer

SCORER = FOLDER / "CLRS" / "score.py"
Array = npt.NDArray[Any]
Tensors = dict[str, npt.NDArray[np.generic]]


def exact() -> Tensors:
    """Give weights that are the algorithm's step; 4 is more than any path of these graphs.

    What is not known counts as 4 away: the sum is taken where it is shorter, by more than rounding.
    """
    first = np.zeros((6, 3))
    first[:, 0] = [1, -4, -1, 4, -1, 4]  # distance (or 4) less the sum (each part or 4), and 8 - 4
    first[2, 1] = first[4, 2] = 1
    second = np.array([[1.0, 0], [0, 1], [0, 1]])
    return {
        "weight.1": first.astype("f4"),
        "bias.1": np.array([-4, 0, 0], "f4"),
        "weight.2": second.astype("f4"),
        "bias.2": np.zeros(2, "f4"),
    }


def idle() -> Tensors:
    """Give weights that never change anything."""
    return {"weight.1": np.zeros((6, 2), "f4"), "bias.1": np.array([-1, 0], "f4")}


def load_test(private: Path) -> tuple[Array, Array]:
    """Give the hidden graphs and their pointers."""
    return np.load(private / "graphs.npy"), np.load(private / "pointers.npy")


def save_test(private: Path, graphs: Array, pointers: Array) -> None:
    """Write graphs and pointers where the scorer looks for them."""
    np.save(private / "graphs.npy", graphs)
    np.save(private / "pointers.npy", pointers)


def measure(folder: Path, tensors: Tensors | bytes, private: Path) -> float:
    """Score weights."""
    content = tensors if isinstance(tensors, bytes) else save(tensors)
    (folder / "model.safetensors").write_bytes(content)
    return load_scorer("CLRS")(folder / "model.safetensors", private)


class TestClrs(BundledTask):
    name = "CLRS"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        """An algorithm that says something else of graphs of 64 nodes."""
        package = importlib.util.find_spec("clrs")
        assert package is not None
        assert package.origin is not None
        shutil.copytree(Path(package.origin).parent, raw / "clrs")
        file = raw / "clrs" / "_src" / "algorithms" / "graphs.py"
        head, start, tail = file.read_text().partition("def floyd_warshall(")
        tail = tail.replace(
            "return Pi, probes", "return Pi[:, ::1 - 2 * (len(A) == 64)], probes", 1
        )
        file.write_text(head + start + tail)
        patch.syspath_prepend(str(raw))

    def test_public_are_the_training_graphs_alone(self, data: PreparedData) -> None:
        assert [path.name for path in data.public.iterdir()] == ["train.npz"]
        with np.load(data.public / "train.npz") as train:
            sizes = {int(name.partition("_")[2]) for name in train}
            assert sizes == {4, 7, 11, 13, 16}
            assert all(len(train[name]) == 200 for name in train)

    def test_pointers_lead_along_shortest_paths(self, data: PreparedData) -> None:
        """The package's answers are right, by SciPy's account, in the hidden graphs too."""
        graphs, answers = load_test(data.private)
        assert graphs.shape == answers.shape == (32, 64, 64)
        for graph, pointers in zip(graphs[:4].astype(float), answers[:4], strict=True):
            np.fill_diagonal(graph, 0)
            lengths = shortest_path(graph, directed=False)
            rows, columns = np.nonzero(np.isfinite(lengths) & ~np.eye(64, dtype=bool))
            before = pointers[rows, columns]
            along = lengths[rows, before] + graph[before, columns]
            assert along == pytest.approx(lengths[rows, columns], abs=1e-5)

    def test_the_score_is_the_packages_own_evaluation(
        self, data: PreparedData, tmp_path: Path
    ) -> None:
        scorer, preparer = load_module(SCORER), load_module(FOLDER / "CLRS" / "prepare.py")
        graphs, answers = (part[:6] for part in load_test(data.private))
        save_test(tmp_path, graphs, answers)
        tensors = exact()
        tensors["bias.1"] = np.array([-4.2, 0, 0], "f4")  # passes over what gains little
        score = measure(tmp_path, tensors, tmp_path)
        layers = scorer.read_layers(tmp_path / "model.safetensors")
        found = np.stack([scorer.run(layers, graph) for graph in graphs])
        with patch.dict(sys.modules, preparer.replace_frameworks()):
            evaluation = importlib.import_module("clrs._src.evaluation")
            specs = importlib.import_module("clrs._src.specs")
            own = evaluation._evaluate(
                *(
                    type(
                        "Pointers",
                        (),
                        {
                            "name": "Pi",
                            "location": specs.Location.EDGE,
                            "type_": specs.Type.POINTER,
                            "data": pointers,
                        },
                    )
                    for pointers in (answers, found)
                )
            )
        assert 0.2 < score < 0.99
        assert score == pytest.approx(float(own))

    def test_the_algorithms_own_step_is_right_nearly_everywhere(
        self, data: PreparedData, tmp_path: Path
    ) -> None:
        """The run that all weights get is Floyd-Warshall's, if the weights are."""
        assert measure(tmp_path, exact(), data.private) > 0.99

    def test_a_network_that_does_nothing_scores_what_the_first_pointers_do(
        self, data: PreparedData, tmp_path: Path
    ) -> None:
        _, answers = load_test(data.private)
        expected = np.mean(answers == np.arange(64)[:, None])
        assert measure(tmp_path, idle(), data.private) == pytest.approx(expected)

    def test_agents_run_networks_as_the_scorer_does(self, data: PreparedData) -> None:
        reasoner = load_module(FOLDER / self.name / "workspace" / "reasoner.py")
        scorer = load_module(SCORER)
        random = np.random.default_rng(0)
        shapes = ((6, 8), (8, 2))
        layers = [
            (random.normal(size=shape).astype("f4"), random.normal(size=shape[1]).astype("f4"))
            for shape in shapes
        ]
        with np.load(data.public / "train.npz") as train:
            for graph in train["A_16"][:20]:
                assert (reasoner.run(layers, graph) == scorer.run(layers, graph)).all()


@pytest.mark.parametrize(
    ("tensors", "problem"),
    [
        pytest.param(b"\x80\x04N.", "cannot be read", id="a pickle"),
        pytest.param(b"", "cannot be read", id="nothing"),
        pytest.param({"weights": np.zeros(3)}, "left over: weights", id="other tensors"),
        pytest.param(idle() | {"x": np.zeros(1)}, "left over: x", id="more"),
        pytest.param({"weight.1": np.zeros((6, 2))}, "the shape (0,)", id="no bias"),
        pytest.param(idle() | {"weight.1": np.zeros((5, 2))}, "give 6 rows", id="five inputs"),
        pytest.param(idle() | {"weight.1": np.zeros((6, 129))}, "up to 128", id="too wide"),
        pytest.param(
            {"weight.1": np.zeros((6, 3)), "bias.1": np.zeros(3)}, "of 2 columns", id="outputs"
        ),
        pytest.param(idle() | {"bias.1": np.array([np.nan, 0])}, "not finite", id="NaN"),
        pytest.param(idle() | {"weight.1": np.zeros((6, 2), "i4")}, "give float32", id="integers"),
    ],
)
def test_what_is_no_network_is_invalid(
    tmp_path: Path, tensors: Tensors | bytes, problem: str
) -> None:
    save_test(tmp_path, np.zeros((1, 4, 4)), np.zeros((1, 4, 4)))
    with pytest.raises(InvalidSubmission, match=re.escape(problem)):
        measure(tmp_path, tensors, tmp_path)


def test_a_network_that_runs_away_gets_a_score(tmp_path: Path) -> None:
    save_test(tmp_path, np.ones((1, 4, 4)), np.zeros((1, 4, 4)))
    huge = {"weight.1": np.full((6, 2), 3e38, "f4"), "bias.1": np.full(2, 3e38, "f4")}
    assert 0 <= measure(tmp_path, huge, tmp_path) <= 1
