"""What a trial takes of a machine, and what a machine has."""

from pathlib import Path

import pytest

from pytest_mlab import resources
from pytest_mlab.resources import NOTHING, Demand, measure_machine


def test_demands_add_up_kind_by_kind() -> None:
    assert Demand(1, 0.1, 2) + Demand(1, 0.2) == Demand(2, 0.3, 2)
    assert Demand(1, 4, 2) - Demand(1, 1) == Demand(0, 3, 2)


def test_a_demand_says_what_is_lacking() -> None:
    demand = Demand(2, 16, 1)
    assert demand.short_of(Demand(1, 8, 4)) == {"gpus", "memory_gb"}
    assert demand.short_of(demand) == frozenset()
    assert demand.only(frozenset({"cpus"})) == Demand(cpus=1)


def test_a_demand_can_be_read() -> None:
    assert str(Demand(2, 16, 1)) == "2 GPU(s), 16 GB of memory, 1 core(s)"
    assert str(NOTHING) == "nothing"


def test_the_machine_is_measured() -> None:
    machine = measure_machine(3)
    total = int(Path("/proc/meminfo").read_text().split()[1]) / 2**20
    assert machine.gpus == 3
    assert 0 < machine.memory_gb <= total + 0.1
    assert machine.cpus >= 1


def test_in_a_container_memory_is_what_it_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "_CGROUPS", tmp_path)
    (tmp_path / "memory.max").write_text(f"{512 * 2**20}\n")
    assert measure_machine(0).memory_gb == 0.5
    (tmp_path / "memory.max").write_text("max\n")
    assert measure_machine(0).memory_gb > 0.5
