"""What is left in a workspace does harm: to who runs git or imports modules there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mlab.attacks.inside import litter


@pytest.fixture
def littered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with all of it."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.chdir(folder)
    config = {"ran": str(tmp_path / "ran"), "private": str(tmp_path)}
    for attack in litter.ATTACKS:
        list(attack(config))
    return folder


@pytest.mark.parametrize("repository", [".", "below"])
def test_a_hook_is_run_by_whoever_uses_git_there(littered: Path, repository: str) -> None:
    who = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
    subprocess.run(
        ["git", *who, "commit", "--allow-empty", "--message", "looked"],
        cwd=littered / repository,
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(littered)},
    )
    assert littered.with_name("ran").exists()


@pytest.mark.parametrize("module", ["json", "csv", "sitecustomize"])
def test_a_module_ends_whoever_imports_it_from_there(littered: Path, module: str) -> None:
    command = ["-c", f"import {module}"]
    environment = {"PYTHONPATH": str(littered)}
    assert subprocess.run([sys.executable, *command], env=environment, check=False).returncode == 7
    assert subprocess.run([sys.executable, "-I", "-c", "import json"], check=False).returncode == 0


def test_names_are_what_text_is_not(littered: Path) -> None:
    names = {os.fsencode(path.name) for path in littered.iterdir()}
    assert names >= set(litter.ODD_NAMES)
    assert max(map(len, names)) == 255
    assert any(b"\n" in name for name in names)
    with pytest.raises(UnicodeDecodeError):
        b"\0".join(names).decode()
