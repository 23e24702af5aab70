"""Limits are asked for a little more than they allow: within them nothing is found, without all."""

import os
import re
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_mlab.attacks.ceilings import PRINTER, Ceilings
from pytest_mlab.attacks.findings import read_reports
from pytest_mlab.attacks.inside import resources
from pytest_mlab.attacks.promises import is_promised
from pytest_mlab.attacks.script import write_script
from pytest_mlab.process import run_command
from pytest_mlab.sandbox import Sandbox, View
from pytest_mlab.sandbox.view import allowed_environment
from tests.folders import load
from tests.sandbox.conftest import get_sandbox

NAMES = {attack.__name__ for attack in resources.ATTACKS}


class NoLimits:
    """Runs a command as it is."""

    name = "no limits"
    inherits = True
    drain_seconds = 0.0

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line."""
        return [*argv]

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment."""
        return allowed_environment(view)


def attack(root: Path, sandbox: Sandbox, memory_gb: float = 1.0) -> set[str]:
    """Make the attacks on resources in a folder, and give the names of those that work."""
    outputs = root.with_name("outputs")
    with Ceilings(root, outputs, memory_gb) as ceilings:
        (root / "attack.py").write_text(write_script(resources.ATTACKS, ceilings.config()))
        view = View(writable=root, memory_gb=memory_gb)
        run = run_command(
            sandbox.command([sys.executable, str(root / "attack.py")], view),
            cwd=root,
            environment=sandbox.environment(view),
            seconds=60,
        )
        reports = read_reports(run.stdout)
        assert {report.attack for report in reports} == NAMES, run
        found = {finding.attack for finding in ceilings.findings(reports)}
    assert not (root / "vast").exists()
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "workspace"
    folder.mkdir()
    return folder


def test_without_limits_all_work(root: Path) -> None:
    own, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    held = {"multiply_without_end"} if os.geteuid() and own != resource.RLIM_INFINITY else set()
    assert attack(root, NoLimits()) >= NAMES - held


@pytest.mark.parametrize("kind", ["none", "bwrap", "landlock"])
def test_within_limits_none_does(root: Path, tmp_path: Path, kind: str) -> None:
    task = load(tmp_path)
    found = attack(root, get_sandbox(kind))
    assert not {name for name in found if is_promised(name, kind, task)}


def test_output_is_found_where_it_is_passed_on_or_kept_without_end(root: Path) -> None:
    outputs = root.with_name("outputs")
    outputs.mkdir()
    command = [sys.executable, "-c", PRINTER]
    environment = {"PATH": os.environ["PATH"]}
    with Ceilings(root, outputs, 1.0) as ceilings:
        run = run_command(
            command, cwd=root, environment=environment, seconds=60, log=outputs / "0001.txt"
        )
        assert run.ended == "output-limit"
        assert list(ceilings.findings_of_output(run.stdout)) == []
        everything = run_command(
            command,
            cwd=root,
            environment=environment,
            seconds=60,
            max_bytes=10**9,
            keep_chars=100_000,
            log=outputs / "0002.txt",
        )
        found = [each.evidence for each in ceilings.findings_of_output(everything.stdout)]
    assert [re.sub(r"[\d,]+ ", "... ", each) for each in found] == [
        "an observation has ... characters",
        f"{outputs / '0002.txt'} has ... bytes",
    ]
    assert not list(outputs.iterdir()), "what fills a disk is not left there"
