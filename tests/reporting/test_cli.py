"""The command `pytest-mlab`: from results on disk to a report, or a message that says why not."""

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mlab.reporting.cli import main
from tests.reporting.builders import make_results
from tests.reporting.test_reading import write


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write(tmp_path / "results.json", make_results("SSSBBINH"))


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("text", "digits  3/8 38 % [14, 69]"),
        ("markdown", r"| digits | 3/8 38 % \[14, 69\] |"),
        ("csv", '"digits","hillclimb","",8,3,0.375,'),
        ("trials", '"digits","hillclimb","",0,'),
    ],
)
def test_every_format_says_the_same(
    results: Path, capsys: pytest.CaptureFixture[str], form: str, line: str
) -> None:
    assert main(["report", str(results), "--format", form]) == 0

    assert any(each.startswith(line) for each in capsys.readouterr().out.splitlines())


def test_a_report_can_go_to_a_file(results: Path, tmp_path: Path) -> None:
    assert main(["report", str(results), "-o", str(tmp_path / "new/report.txt")]) == 0

    assert "Success rate" in (tmp_path / "new/report.txt").read_text(encoding="utf-8")


def test_two_sets_are_compared(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = write(tmp_path / "before.json", make_results("B" * 8), "before")

    assert main(["report", str(results), "--against", str(before)]) == 0

    assert "hillclimb against hillclimb" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nix.json"], ["."], ["results.json", "--against", "nix"]])
def test_wrong_input_is_a_message_and_exit_code_2(
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    monkeypatch.chdir(results.parent if "results.json" in arguments else Path(__file__).parent)

    assert main(["report", *arguments]) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("pytest-mlab: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("form", ["csv", "trials"])
@pytest.mark.parametrize("more", [["--published"], ["--against", "results.json"]])
def test_what_csv_cannot_show_is_refused_not_left_out(
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    form: str,
    more: list[str],
) -> None:
    monkeypatch.chdir(results.parent)

    assert main(["report", "results.json", "--format", form, *more]) == 2

    assert "not with CSV" in capsys.readouterr().err


def test_the_papers_figures_are_shown_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "results.json", make_results("SSSBBINH", task="house-price"))

    assert main(["report", str(path), "--published", "--format", "markdown"]) == 0

    shown = capsys.readouterr().out
    assert "Claude v3 (published)" in shown
    assert r"| house-price | 3/8 38 % \[14, 69\] | 12.5 % | 87.5 %" in shown


def test_results_without_a_trial_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "results.json", [])

    assert main(["report", str(path)]) == 2

    assert "no trial has a result" in capsys.readouterr().err


def test_it_runs_as_a_module_without_loading_pytest(results: Path) -> None:
    code = (
        "import sys, runpy; sys.argv = ['pytest-mlab', 'report', sys.argv[1], '--format', 'csv']\n"
        "try: runpy.run_module('pytest_mlab', run_name='__main__')\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not {'pytest', 'numpy', 'anthropic', 'openai', 'sklearn'} & set(sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, str(results)], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert '"digits","hillclimb","",8,3,' in done.stdout
