"""Devices: which there are, and which of their names mean the same one."""

import os
from pathlib import Path

import pytest

from pytest_mlab.gpu import find_devices, identify

LISTED = """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-8932f937-d72c-4106)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-b0c1d2e3-0000-1111)
"""
SLICED = """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-8932f937-d72c-4106)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-b0c1d2e3-0000-1111)
  MIG 3g.40gb     Device  0: (UUID: MIG-c6d4f1ef-0)
  MIG 3g.40gb     Device  1: (UUID: MIG-c6d4f1ef-1)
"""


def install_driver(folder: Path, monkeypatch: pytest.MonkeyPatch, listed: str) -> Path:
    """Make a driver's program that lists these devices, and give its path."""
    driver = folder / "nvidia-smi"
    driver.write_text(f"#!/bin/sh\ncat <<'END'\n{listed}END\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return driver


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
        driver = install_driver(tmp_path, monkeypatch, LISTED)
        assert find_devices("auto") == ("0", "1")
        driver.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'; exit 9\n")
        assert find_devices("auto") == ()

    def test_of_a_gpu_in_slices_the_slices_are_devices(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        install_driver(tmp_path, monkeypatch, SLICED)
        assert find_devices("auto") == ("0", "MIG-c6d4f1ef-0", "MIG-c6d4f1ef-1")

    def test_without_a_driver_there_are_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert find_devices("auto") == ()


class TestNames:
    def test_of_one_device_are_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install_driver(tmp_path, monkeypatch, SLICED)
        uuids = ["GPU-8932f937-d72c-4106", "MIG-c6d4f1ef-1"]
        assert list(identify(["0", "MIG-c6d4f1ef-1"])) == uuids
        assert identify(["GPU-8932f937"]) == {"GPU-8932f937-d72c-4106": "GPU-8932f937"}

    def test_are_as_given_where_no_driver_knows_better(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert identify(["0", "MIG-GPU-b0/1/0"]) == {"0": "0", "MIG-GPU-b0/1/0": "MIG-GPU-b0/1/0"}
