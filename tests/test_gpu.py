"""Leases of devices: each to one process at a time, free again when its holder dies."""

import itertools
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mlab import Unavailable
from pytest_mlab.gpu import find_devices, lease_devices
from tests.processes import start_python

HOLD = """
import sys, time
from pytest_mlab.gpu import lease_devices
with lease_devices(int(sys.argv[1]), tuple(sys.argv[2].split(","))) as held:
    print(",".join(held), flush=True)
    time.sleep(float(sys.argv[3]))
    print("done", time.monotonic(), flush=True)
"""


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine of the test's own."""
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield tmp_path / "pytest-mlab-gpus"
    monkeypatch.setattr("tempfile.tempdir", None)


class TestFindingDevices:
    @pytest.mark.parametrize(
        ("choice", "devices"),
        [
            ("none", ()),
            ("0", ("0",)),
            ("0, 2,1", ("0", "2", "1")),
            ("0,0,1", ("0", "1")),
            ("GPU-8932f937,MIG-GPU-b0/1/0", ("GPU-8932f937", "MIG-GPU-b0/1/0")),
        ],
    )
    def test_named_ones(self, choice: str, devices: tuple[str, ...]) -> None:
        assert find_devices(choice) == devices

    @pytest.mark.parametrize(
        ("visible", "devices"),
        [("", ()), ("3,5", ("3", "5")), ("-1", ()), ("1,-1,2", ("1",))],
    )
    def test_auto_takes_those_that_are_visible(
        self, monkeypatch: pytest.MonkeyPatch, visible: str, devices: tuple[str, ...]
    ) -> None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert find_devices("auto") == devices

    def test_auto_asks_the_driver_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        driver = tmp_path / "nvidia-smi"
        driver.write_text("#!/bin/sh\nprintf '0\\n1\\n'\n")
        driver.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        assert find_devices("auto") == ("0", "1")
        driver.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'; exit 9\n")
        assert find_devices("auto") == ()

    def test_without_a_driver_there_are_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert find_devices("auto") == ()


class TestLeasing:
    def test_gives_as_many_as_asked_for(self) -> None:
        with lease_devices(2, ("0", "1", "2")) as first, lease_devices(1, ("0", "1", "2")) as rest:
            assert (first, rest) == (("0", "1"), ("2",))

    def test_of_none_asks_nothing(self, locks: Path) -> None:
        with lease_devices(0, ()) as held:
            assert held == ()
        assert not locks.exists()

    def test_gives_them_back(self) -> None:
        for _ in range(3):
            with lease_devices(1, ("0",)) as held:
                assert held == ("0",)

    def test_gives_them_back_after_an_exception(self) -> None:
        with pytest.raises(ValueError, match="own"), lease_devices(1, ("0",)):
            raise ValueError("own")
        with lease_devices(1, ("0",)) as held:
            assert held == ("0",)

    def test_of_more_than_there_are_is_a_skip_with_the_remedy(self) -> None:
        with (
            pytest.raises(Unavailable, match=r"needs 2 GPU\(s\), and there are 1; .*--mlab-gpus"),
            lease_devices(2, ("0",)),
        ):
            pass

    def test_takes_ids_of_any_form(self) -> None:
        with lease_devices(1, ("MIG-GPU-b0/1/0",)) as held:
            assert held == ("MIG-GPU-b0/1/0",)


class TestProcesses:
    def test_each_device_is_held_by_one_process_at_a_time(self) -> None:
        processes = [start_python(HOLD, 1, "0,1", 0.3) for _ in range(4)]
        answers = [process.communicate(timeout=30)[0].split() for process in processes]
        ends: dict[str, list[float]] = {"0": [], "1": []}
        for device, _, end in answers:
            ends[device].append(float(end))
        assert sum(map(len, ends.values())) == 4
        for times in ends.values():
            pairs = itertools.pairwise(sorted(times))
            assert all(later - earlier >= 0.3 for earlier, later in pairs)

    def test_who_wants_several_gets_all_or_waits(self) -> None:
        with lease_devices(1, ("0",)):
            process = start_python(HOLD, 2, "0,1", 0)
            time.sleep(0.5)
            assert process.poll() is None
            with lease_devices(1, ("1",)) as held:
                assert held == ("1",), "a waiting process keeps what it cannot use"
        assert process.communicate(timeout=30)[0].startswith("0,1\n")

    def test_a_killed_holder_loses_its_device(self) -> None:
        process = start_python(HOLD, 1, "0", 60)
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        process.send_signal(signal.SIGKILL)
        begun = time.monotonic()
        with lease_devices(1, ("0",)) as held:
            assert held == ("0",)
        assert time.monotonic() - begun < 5
        process.communicate()

    def test_another_users_session_may_use_the_locks(self, locks: Path) -> None:
        with lease_devices(1, ("0",)):
            assert locks.stat().st_mode & 0o777 == 0o777
            assert (locks / "0.lock").stat().st_mode & 0o666 == 0o666
