"""BabyLM: weights in, the perplexity of GPT-2 out; the text of the test with the scorer alone."""

import hashlib
import importlib
import json
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pytest_mlab import InvalidSubmission
from pytest_mlab.children.prepare import COMPLETE
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import FOLDER, BundledTask, load_module, load_scorer

pytestmark = pytest.mark.torch

PREPARER = FOLDER / "BabyLM" / "prepare.py"

SOURCES = ["aochildes", "bnc_spoken", "switchboard"]
PARTS = {"babylm_10M": "train", "babylm_dev": "dev", "babylm_test": "test"}
CHARACTERS = {"train": 3_000, "dev": 4_500, "test": 4_500}
Tensors = dict[str, npt.NDArray[Any]]


def draw_lines(seed: str, characters: int) -> list[str]:
    """Draw sentences of a small grammar, with a blank line now and then."""
    chance = random.Random(seed)
    nouns = [f"{a}{b}" for a in ("dog", "cat", "child", "moon", "fish") for b in ("", "s", "ling")]
    verbs = ["sees", "likes", "finds", "follows", "forgets", "calls"]
    endings = [".", "!", " and runs.", " in the garden.", ", they say."]
    lines: list[str] = []
    while sum(map(len, lines)) < characters:
        noun, other = chance.choices(nouns, k=2)
        sentence = f"The {noun} {chance.choice(verbs)} the {other}{chance.choice(endings)}"
        lines += [f"{sentence} {chance.choice(nouns).title()}?"] + [""] * (chance.random() < 0.1)
    return lines


class TestBabyLM(BundledTask):
    name = "BabyLM"
    permutes = False  # words are foretold by how frequent they are, in whatever order

    def write_raw(self, raw: Path) -> None:
        """The archive with all its folders, and GPT-2's two files with fewer tokens in them."""
        implementations: Any = importlib.import_module("tokenizers.implementations")
        with zipfile.ZipFile(raw / "babylm_data.zip", "w") as archive:
            for folder, part in (PARTS | {"babylm_100M": "train"}).items():
                archive.mkdir(f"babylm_data/{folder}")
                for source in SOURCES:
                    text = "\n".join(draw_lines(f"{folder}{source}", CHARACTERS[part]))
                    archive.writestr(f"babylm_data/{folder}/{source}.{part}", text)
            archive.writestr("__MACOSX/babylm_data/babylm_10M/._aochildes.train", b"\0\5\26\7")
        tokenizer = implementations.ByteLevelBPETokenizer()
        tokenizer.train_from_iterator(
            iter(draw_lines("tokens", 20_000)),
            vocab_size=400,
            special_tokens=["<|endoftext|>"],
            show_progress=False,
        )
        tokenizer.save_model(str(raw))
        (raw / "vocab.json").rename(raw / "encoder.json")
        (raw / "merges.txt").rename(raw / "vocab.bpe")
        # Taken for what was fetched: download() would miss the real files' checksums.
        (raw / COMPLETE).write_text(hashlib.sha256(PREPARER.read_bytes()).hexdigest())

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        with zipfile.ZipFile(raw / "babylm_data.zip") as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(raw / "babylm_data.zip", "w") as archive:
            for name, content in files.items():
                changed = content.upper() if name.endswith(".test") else content
                archive.writestr(name, changed)

    def test_tokens_are_of_the_right_parts_and_spell_their_text(self, data: PreparedData) -> None:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(data.public / "tokenizer.json"))
        end = json.loads((data.public / "vocabulary.json").read_text())["end"]
        assert tokenizer.decode([end], skip_special_tokens=False) == "<|endoftext|>"
        train = np.load(data.public / "train.npy")
        texts = [tokenizer.decode(part[part != end]) for part in split(train, end)]
        drawn = [draw_lines(f"babylm_10M{source}", CHARACTERS["train"]) for source in SOURCES]
        assert texts == ["".join(f"{line}\n" for line in lines if line) for lines in drawn]
        validation = np.load(data.public / "validation.npy")
        hidden = np.load(data.private / "test.npy")
        for folder, tokens in (
            ("babylm_dev", validation),
            ("babylm_test", hidden),
        ):
            lines = {line for source in SOURCES for line in draw_lines(f"{folder}{source}", 4_500)}
            passages = [tokenizer.decode(part[part != end]) for part in split(tokens, end)]
            assert len(passages) == len(SOURCES)
            assert all(len(passage) >= 4_000 for passage in passages)
            assert {line for passage in passages for line in passage.splitlines()} <= lines

    def test_no_telling_line_of_the_test_is_in_what_agents_get(self, data: PreparedData) -> None:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(data.public / "tokenizer.json"))
        public = {
            line
            for name in ("train.npy", "validation.npy")
            for line in tokenizer.decode(np.load(data.public / name)).splitlines()
        }
        lines = tokenizer.decode(np.load(data.private / "test.npy")).splitlines()
        assert not [line for line in lines if len(line) >= 60 and line in public]


def split(tokens: npt.NDArray[Any], end: int) -> list[npt.NDArray[Any]]:
    """Split tokens after each end; nothing comes after the last."""
    return np.split(tokens, np.flatnonzero(tokens == end) + 1)[:-1]


SIZE, END, WIDTH, LAYERS, HEADS, CONTEXT = 50, 49, 48, 2, 3, 16


@pytest.fixture
def weights() -> Tensors:
    """The weights of a small GPT-2 of Hugging Face's, by their names there."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=SIZE, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=CONTEXT
    )
    network = transformers.GPT2LMHeadModel(config)
    for weight in network.parameters():  # larger than they start, so that all of them matter
        torch.nn.init.normal_(weight, std=0.3)
    return {name: weight.detach().numpy() for name, weight in network.named_parameters()}


def save(folder: Path, weights: Tensors, heads: object = HEADS) -> Path:
    from safetensors.numpy import save_file

    metadata = None if heads is None else {"n_head": str(heads)}
    save_file(weights, folder / "model.safetensors", metadata=metadata)
    return folder / "model.safetensors"


def measure(folder: Path, submission: Path, tokens: list[int]) -> float:
    """Score weights on tokens."""
    (folder / "vocabulary.json").write_text(json.dumps({"size": SIZE, "end": END}))
    np.save(folder / "test.npy", np.array(tokens, dtype=np.uint16))
    return load_scorer("BabyLM")(submission, folder)


class TestMetric:
    def test_it_is_the_perplexity_of_hugging_faces_gpt_2(
        self, tmp_path: Path, weights: Tensors
    ) -> None:
        torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
        config = transformers.GPT2Config(
            vocab_size=SIZE, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=CONTEXT
        )
        network = transformers.GPT2LMHeadModel(config).eval()
        network.load_state_dict({k: torch.tensor(v) for k, v in weights.items()}, strict=False)
        passages = [np.random.default_rng(n).integers(END, size=n) for n in (5, 16, 40)]
        losses = []
        for passage in passages:
            inputs = [END, *passage[:-1]]
            for at in range(0, len(passage), CONTEXT):
                logits = network(torch.tensor([inputs[at : at + CONTEXT]])).logits[0]
                target = torch.tensor(passage[at : at + CONTEXT])
                losses.append(torch.nn.functional.cross_entropy(logits, target, reduction="none"))
        expected = torch.cat(losses).double().mean().exp().item()
        text = [int(token) for passage in passages for token in [*passage, END]]
        assert measure(tmp_path, save(tmp_path, weights), text) == pytest.approx(expected, 1e-4)

    def test_knowing_nothing_has_the_perplexity_of_the_vocabulary(
        self, tmp_path: Path, weights: Tensors
    ) -> None:
        nothing = {name: np.zeros_like(weight) for name, weight in weights.items()}
        score = measure(tmp_path, save(tmp_path, nothing), [1, 2, 3, END, 4])
        assert score == pytest.approx(SIZE)

    def test_certainty_scores_lower_if_it_is_right_and_higher_if_not(
        self, tmp_path: Path, weights: Tensors
    ) -> None:
        always_seven = {name: np.zeros_like(weight) for name, weight in weights.items()}
        always_seven["transformer.wte.weight"][7, 0] = 5
        always_seven["transformer.ln_f.bias"][0] = 1
        submission = save(tmp_path, always_seven)
        assert measure(tmp_path, submission, [7, 7, 7, END]) < 2
        assert measure(tmp_path, submission, [8, 8, 8, END]) > 2 * SIZE

    def test_no_token_is_predicted_from_itself_or_what_follows(
        self, tmp_path: Path, weights: Tensors
    ) -> None:
        """Of the sum of all -ln p, a token's share is the same whatever comes after it."""
        submission = save(tmp_path, weights)
        beginning, total = [3, 1, 4], 0.0
        for token in range(SIZE - 1):  # all that may follow, but for the end
            text = [*beginning, token]
            before = np.log(measure(tmp_path, submission, beginning)) * len(beginning)
            after = np.log(measure(tmp_path, submission, text)) * len(text)
            total += np.exp(before - after)
        assert 0.5 < total < 1

    def test_half_precision_and_an_output_layer_of_its_own_are_read(
        self, tmp_path: Path, weights: Tensors
    ) -> None:
        whole = measure(tmp_path, save(tmp_path, weights), [5, 6, 7, END])
        half = {name: weight.astype(np.float16) for name, weight in weights.items()}
        half["lm_head.weight"] = half["transformer.wte.weight"].copy()
        assert measure(tmp_path, save(tmp_path, half), [5, 6, 7, END]) == pytest.approx(whole, 0.02)


def change(name: str, value: npt.NDArray[Any]) -> Callable[[Tensors], None]:
    return lambda weights: weights.update({name: value})


@pytest.mark.parametrize(
    ("heads", "fault", "problem"),
    [
        (None, lambda weights: None, "metadata's n_head is None; give the number of heads"),
        (0, lambda weights: None, "metadata's n_head is 0"),
        (5, lambda weights: None, "5 heads of 9.6"),
        (48, lambda weights: None, "48 heads of 1; at most 48 layers and heads of 16"),
        (HEADS, lambda weights: weights.pop("transformer.ln_f.bias"), "ln_f.bias is missing"),
        (HEADS, change("other", np.zeros(2)), "other is (2,); a GPT-2 has nothing of this name"),
        (HEADS, change("transformer.wte.weight", np.zeros((9, 48))), "wte.weight needs 50 rows"),
        (HEADS, change("transformer.wpe.weight", np.zeros((4, 48))), "has 4 places; 16 to 2048"),
        (
            HEADS,
            change("transformer.ln_f.bias", np.zeros(3)),
            "ln_f.bias is (3,); a GPT-2 has (48,)",
        ),
        (HEADS, change("transformer.ln_f.bias", np.zeros(48, int)), "in float32 or float16"),
        (HEADS, change("transformer.ln_f.bias", np.full(48, np.nan)), "values that are not finite"),
        (HEADS, change("transformer.ln_f.weight", np.full(48, 1e38)), "its perplexity is"),
    ],
)
def test_what_is_no_gpt_2_is_invalid(
    tmp_path: Path,
    weights: Tensors,
    heads: object,
    fault: Callable[[Tensors], object],
    problem: str,
) -> None:
    fault(weights)
    with pytest.raises(InvalidSubmission, match=re.escape(problem)):
        measure(tmp_path, save(tmp_path, weights, heads), [1, 2, 3, END])


@pytest.mark.parametrize("content", [b"", b"\x80\x04N.", b"PK\x03\x04", b"\xff" * 100])
def test_what_is_no_safetensors_file_is_invalid(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(InvalidSubmission, match="cannot be read"):
        measure(tmp_path, tmp_path / "model.safetensors", [1, 2, END])


def test_agents_measure_and_save_what_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "vocabulary.json").write_text(json.dumps({"size": SIZE, "end": END}))
    monkeypatch.chdir(tmp_path)
    workspace: Any = load_module(FOLDER / "BabyLM" / "workspace" / "model.py")
    torch.manual_seed(0)
    network = workspace.GPT2(LAYERS, HEADS, WIDTH, CONTEXT)
    for weight in network.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    network.save(tmp_path / "model.safetensors")
    tokens = [*range(40), END, 8, 9, END]
    own = workspace.measure_perplexity(network, torch.tensor(tokens), "cpu")
    assert measure(tmp_path, tmp_path / "model.safetensors", tokens) == pytest.approx(own, 1e-4)
