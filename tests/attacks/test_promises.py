"""What is not promised does not fail a task."""

import os
from pathlib import Path

import pytest

from pytest_mlab.attacks.inside import ATTACKS, sockets
from pytest_mlab.attacks.promises import is_promised
from tests.folders import load

NAMES = {attack.__name__ for attack in ATTACKS}


@pytest.mark.parametrize("kind", ["bwrap", "landlock"])
def test_an_ordinary_user_is_promised_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    task = load(tmp_path)
    assert all(is_promised(name, kind, task) for name in NAMES)


@pytest.mark.parametrize(("parent", "promised"), [(None, False), (Path("/group"), True)])
def test_root_is_held_to_a_number_of_processes_where_it_may_make_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parent: Path | None, promised: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("pytest_mlab.attacks.promises.find_parent", lambda: parent)
    task = load(tmp_path)
    assert is_promised("multiply_without_end", "bwrap", task) is promised
    assert is_promised("multiply_without_end", "container", task)


def test_a_task_that_asks_for_the_network_gets_all_of_it(tmp_path: Path) -> None:
    task = load(tmp_path, resources={"network": True})
    kept = {name for name in NAMES if is_promised(name, "bwrap", task)}
    assert {each.__name__ for each in sockets.ATTACKS} & kept == {
        "connect_to_a_socket_that_is_a_file"
    }


def test_an_engine_limits_the_memory_that_is_written_to(tmp_path: Path) -> None:
    task = load(tmp_path)
    assert is_promised("ask_for_too_much_memory", "bwrap", task)
    assert not is_promised("ask_for_too_much_memory", "container", task)
    assert is_promised("write_too_large_a_file", "container", task)
