"""The task on the speed of a language model: the model is a real one, and what it says is fixed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTask, load_scorer

# "The capital of France is", " Paris."; "One, two, three, four,", " five, six, seven,"
SENTENCES = [
    ([504, 3575, 282, 4649, 314], [7042, 30]),
    ([2705, 28, 827, 28, 1296, 28, 1876, 28], [2531, 28, 2976, 28, 4962, 28]),
]


def generate(folder: Path, prompts: list[list[int]]) -> list[list[float]]:
    """Give what the folder's model says, from a process of its own: weights take half a GB."""
    program = (
        "import json, sys, generation\n"
        "prompts = json.load(sys.stdin)\n"
        "print(json.dumps([generation.generate(prompt).tolist() for prompt in prompts]))\n"
    )
    run = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=folder,
        input=json.dumps(prompts),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    answers: list[list[float]] = json.loads(run.stdout)
    return answers


class TestLlamaInference(BundledTask):
    name = "llama-inference"
    has_answers = False  # prompts are drawn, and tokens chosen, when a submission is scored

    @pytest.mark.slow
    @pytest.mark.parametrize("folder", ["workspace", "solution"])
    def test_the_model_speaks_english(self, data: PreparedData, folder: str) -> None:
        answers = generate(self.folder / folder, [prompt for prompt, _ in SENTENCES])
        for answer, (_, expected) in zip(answers, SENTENCES, strict=True):
            assert answer[: len(expected)] == expected

    @pytest.mark.slow
    def test_one_other_token_is_invalid(
        self, data: PreparedData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for library in ("OPENBLAS", "OMP", "MKL"):  # which the scorer sets for its own process
            monkeypatch.setenv(f"{library}_NUM_THREADS", "1")
        source = (self.folder / "solution" / "generation.py").read_text(encoding="utf-8")
        twisted = source.replace(
            "return np.array(given, ", "given[-1] += 1\n    return np.array(given, "
        )
        assert twisted != source
        (tmp_path / "submission.py").write_text(twisted, encoding="utf-8")
        with pytest.raises(InvalidSubmission, match="differ from the reference's by up to 1 "):
            load_scorer(self.name)(tmp_path / "submission.py", data.private)
