"""The controller gathers every trial's result, however the trials are run and however they end."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.conftest import RunTrials

pytest_plugins = ["pytester"]

DIGITS = """
    import pytest

    @pytest.mark.parametrize("n", range(4))
    def test_trial(finish, n):
        finish("success" if n else "below-threshold")
"""
CRASH = """
    import os

    def test_trial(finish):
        os._exit(1)
"""
SKIP = """
    import pytest

    @pytest.fixture
    def torch():
        pytest.skip("torch is missing: pip install torch")

    def test_trial(torch):
        pass
"""
BROKEN = """
    import pytest

    @pytest.fixture
    def data():
        raise OSError("the disk is full")

    def test_trial(data):
        pass
"""
ORDINARY = """
    def test_one():
        pass

    def test_two():
        pass
"""
LIVE = "*{} digits · hillclimb · trial {}  accuracy * against 0.8 (+*.0 %)  12 steps  31 s*"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_each_trial_has_a_live_line_and_the_table_counts_it(
    run_trials: RunTrials, plugin_args: tuple[str, ...]
) -> None:
    run = run_trials(*plugin_args, test_digits=DIGITS)

    run.stdout.fnmatch_lines_random(
        [LIVE.format("below-threshold ", 0), *(LIVE.format("success ", n) for n in (1, 2, 3))]
    )
    run.stdout.fnmatch_lines(
        [
            "*= ML agent benchmark =*",
            "hillclimb",
            "digits *3/4 *75 % [[]30, 95[]] *+10.? % * 0 * 0 * 12 *31 s",
            "4 trials: 3 successes (75 % [[]30, 95[]]), 1 below-threshold, 2 min of agents' time,",
            "*= 1 failed, 3 passed in *",
        ]
    )
    assert run.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
@pytest.mark.parametrize("verbosity", ["-v", "-q", "-s"])
def test_a_live_line_has_a_line_of_its_own(
    run_trials: RunTrials, workers: str, verbosity: str
) -> None:
    run = run_trials(workers, verbosity, test_digits=DIGITS, test_ordinary=ORDINARY)

    lines = [line for line in run.outlines if "· trial " in line and "FAILED" not in line]
    lines = [line for line in lines if not line.startswith("E  ")]
    assert len(lines) == 4
    pattern = r"(success|below-threshold)  digits · .*  12 steps  31 s( +\[ *\d+%\]| \[\d/4\])?"
    assert [line for line in lines if not re.fullmatch(pattern, line)] == []


@pytest.mark.parametrize("color", ["yes", "no"])
def test_colours_are_only_there_when_wanted(run_trials: RunTrials, color: str) -> None:
    run = run_trials(f"--color={color}", "--tb=no", test_digits=DIGITS)

    green = [line for line in run.outlines if line.startswith("\x1b[32msuccess  digits")]
    assert len(green) == (3 if color == "yes" else 0)
    assert ("\x1b" in run.stdout.str()) == (color == "yes")


def test_very_quiet_keeps_letters_and_the_table(run_trials: RunTrials) -> None:
    run = run_trials("-qq", "--tb=no", test_digits=DIGITS)

    run.stdout.no_fnmatch_line("*success  digits*")
    (letters,) = [line.split()[0] for line in run.outlines if line.endswith("[100%]")]
    assert sorted(letters) == sorted("F...")
    run.stdout.fnmatch_lines(["digits *3/4 *"])


def test_ordinary_tests_keep_their_letters(
    run_trials: RunTrials, plugin_args: tuple[str, ...]
) -> None:
    run = run_trials(*plugin_args, "--tb=no", test_digits=DIGITS, test_ordinary=ORDINARY)

    letters = [line for line in run.outlines if re.match(r"(test_ordinary.py )?\.\.? ?", line)]
    assert sum(line.count(".") - line.count(".py") for line in letters) == 2
    run.assert_outcomes(passed=5, failed=1)


def test_without_a_trial_nothing_is_said(run_trials: RunTrials) -> None:
    run = run_trials(test_ordinary=ORDINARY)

    assert "benchmark" not in run.stdout.str()
    assert "trials:" not in run.stdout.str()


def test_results_are_written_in_order_of_arrival(
    run_trials: RunTrials, plugin_args: tuple[str, ...], pytester: pytest.Pytester
) -> None:
    run_trials(*plugin_args, "--mlab-json=out/run/results.json", test_digits=DIGITS)

    document = read(pytester.path / "out/run/results.json")
    trials = [result["trial"] for result in document["results"]]
    assert sorted(trials) == [0, 1, 2, 3]
    assert document["summary"]["total"]["successes"] == 3
    assert list((pytester.path / "out/run").iterdir()) == [pytester.path / "out/run/results.json"]


def test_a_crashed_worker_is_an_error_in_the_denominator(
    run_trials: RunTrials, pytester: pytest.Pytester
) -> None:
    run = run_trials(
        "-n2", "--mlab-json=results.json", "--tb=no", test_digits=DIGITS, test_crash=CRASH
    )

    results = read(pytester.path / "results.json")["results"]
    (crashed,) = [result for result in results if result["task"] == "crash"]
    assert (crashed["status"], crashed["stop"]) == ("harness-error", "crashed")
    assert crashed["detail"].startswith("worker 'gw")
    assert crashed["score"] is None
    assert len(results) == 5
    run.stdout.fnmatch_lines(
        [
            "harness-error  crash · hillclimb · trial 0  0 steps * s  worker 'gw* crashed*",
            "crash *0/1 *0 % [[]0, 79[]] *1 *",
            "all tasks *3/5 *",
            "*= 1 failed, 3 passed, 1 error in *",
        ]
    )


def test_a_trial_that_broke_down_before_it_began_is_an_error(
    run_trials: RunTrials, pytester: pytest.Pytester
) -> None:
    run_trials("--mlab-json=results.json", test_broken=BROKEN)

    (result,) = read(pytester.path / "results.json")["results"]
    assert result["status"] == "harness-error"
    assert result["detail"] == "OSError: the disk is full"


def test_a_skipped_trial_is_no_result_and_names_the_remedy(
    run_trials: RunTrials, pytester: pytest.Pytester
) -> None:
    run = run_trials("--mlab-json=results.json", test_cifar10=SKIP, test_digits=DIGITS)

    document = read(pytester.path / "results.json")
    (skipped,) = document["skipped"]
    assert skipped["task"] == "cifar10"
    assert skipped["reason"] == "torch is missing: pip install torch"
    assert len(document["results"]) == 4
    run.stdout.fnmatch_lines(
        ["skipped cifar10 (1): torch is missing: pip install torch", "4 trials: *"]
    )
    run.stdout.no_fnmatch_line("cifar10 *0/*")


def test_trials_that_never_ran_are_said_and_not_counted(
    run_trials: RunTrials, plugin_args: tuple[str, ...], pytester: pytest.Pytester
) -> None:
    first_fails = DIGITS.replace("range(4)", "range(20)")

    run = run_trials(
        *plugin_args, "-x", "--mlab-json=results.json", test_digits=first_fails, test_z=ORDINARY
    )

    document = read(pytester.path / "results.json")
    assert 1 <= len(document["results"]) < 20
    assert len(document["results"]) + len(document["not_run"]) == 20
    run.stdout.fnmatch_lines([f"*, {len(document['not_run'])} not run*"])


def test_an_interrupt_keeps_what_is_there(run_trials: RunTrials, pytester: pytest.Pytester) -> None:
    interrupted = DIGITS + "        if n == 2: raise KeyboardInterrupt\n"

    run = run_trials("-p", "no:xdist", "--mlab-json=results.json", test_digits=interrupted)

    document = read(pytester.path / "results.json")
    assert [result["trial"] for result in document["results"]] == [0, 1]
    assert len(document["not_run"]) == 2
    run.stdout.fnmatch_lines(["2 trials: *2 not run*"])
    assert run.ret == pytest.ExitCode.INTERRUPTED


def test_a_session_without_trials_leaves_no_results_of_an_earlier_one(
    run_trials: RunTrials, pytester: pytest.Pytester
) -> None:
    run_trials("--mlab-json=results.json", test_digits=DIGITS)
    run_trials("--mlab-json=results.json", "--collect-only", test_digits=DIGITS)
    assert len(read(pytester.path / "results.json")["results"]) == 4

    run_trials("--mlab-json=results.json", "-k", "nothing", test_digits=DIGITS)

    assert read(pytester.path / "results.json")["results"] == []


def test_a_disk_that_fails_at_the_end_is_said_and_fails_the_session(run_trials: RunTrials) -> None:
    spoiler = "    import pathlib; pathlib.Path('results.json').mkdir(exist_ok=True)\n"

    run = run_trials("--mlab-json=results.json", test_digits=DIGITS + spoiler)

    run.stdout.fnmatch_lines(["4 trials: *", "results not written: *results.json*"])
    assert run.ret == pytest.ExitCode.INTERNAL_ERROR


def test_results_can_go_down_a_pipe(run_trials: RunTrials) -> None:
    run = run_trials("--mlab-json=/dev/stderr", test_digits=DIGITS)

    assert len(json.loads(run.stderr.str())["results"]) == 4


def test_it_works_without_a_terminal_plugin(
    run_trials: RunTrials, pytester: pytest.Pytester
) -> None:
    run_trials("-p", "no:terminal", "--mlab-json=results.json", test_digits=DIGITS)

    assert len(read(pytester.path / "results.json")["results"]) == 4


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_keeps_to_the_terminal(
    run_trials: RunTrials, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("TRIAL_LLM", "openai:a-model-with-a-long-name@http://localhost:8000/v1")
    monkeypatch.setenv("COLUMNS", str(columns))

    run = run_trials("--tb=no", "-rN", test_digits=DIGITS, test_vectorization=DIGITS)

    start = next(n for n, line in enumerate(run.outlines) if "ML agent benchmark" in line)
    assert len(run.outlines[start]) == columns
    assert max(map(len, run.outlines[start:])) <= columns
    assert ("improvement" in run.stdout.str()) == (columns == 120)
