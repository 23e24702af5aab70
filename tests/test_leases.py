"""Leases of what a machine has: all that is asked or none, and free again when a holder dies."""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab import Unavailable
from pytest_mlab.leases import Claim, lease, settle
from pytest_mlab.resources import Demand, measure_machine
from tests.processes import is_alive, start_python, wait_until
from tests.projects import Project, has_xdist

HOLD = """
import sys, time
from pytest_mlab.leases import lease
from pytest_mlab.resources import Demand
demand = Demand(int(sys.argv[1]), float(sys.argv[4]) if len(sys.argv) > 4 else 0)
devices = [name for name in sys.argv[2].split(",") if name]
with lease(demand, devices, lambda short: print("waits", *short, flush=True)) as held:
    print("holds", ",".join(held), time.monotonic(), flush=True)
    time.sleep(float(sys.argv[3]))
    print("done", time.monotonic(), flush=True)
"""
MEMORY = measure_machine(0).memory_gb


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of the test's own."""
    monkeypatch.setenv("MLAB_LEASES", str(tmp_path / "leases"))
    return tmp_path / "leases"


class TestLeasing:
    def test_gives_as_many_devices_as_asked_for(self) -> None:
        devices = ("0", "1", "2")
        with lease(Demand(2), devices) as first, lease(Demand(1), devices) as rest:
            assert (first, rest) == (("0", "1"), ("2",))

    def test_gives_them_back(self, table: Path) -> None:
        for _ in range(3):
            with lease(Demand(1, 0.1, 1), ("0",)) as held:
                assert held == ("0",)
        assert not list(table.glob("*.json"))

    def test_gives_them_back_after_an_exception(self) -> None:
        with pytest.raises(ValueError, match="own"), lease(Demand(1), ("0",)):
            raise ValueError("own")
        with lease(Demand(1), ("0",)) as held:
            assert held == ("0",)

    def test_takes_ids_of_any_form(self) -> None:
        with lease(Demand(1), ("MIG-GPU-b0/1/0",)) as held:
            assert held == ("MIG-GPU-b0/1/0",)

    @pytest.mark.parametrize(
        ("demand", "message"),
        [
            (Demand(gpus=2), r"needs 2 GPU\(s\), and there are 1; run .*--mlab-gpus"),
            (Demand(memory_gb=2**20), r"needs .* GB of memory, and there are .*memory_gb"),
            (Demand(cpus=1000), r"needs \d+ core\(s\), and there are \d+; .*cpus"),
        ],
    )
    def test_of_more_than_there_is_is_a_skip_with_the_remedy(
        self, demand: Demand, message: str
    ) -> None:
        with pytest.raises(Unavailable, match=message), lease(demand, ("0",)):
            pass


class TestProcesses:
    def test_each_device_is_held_by_one_process_at_a_time(self) -> None:
        processes = [start_python(HOLD, 1, "0,1", 0.3) for _ in range(4)]
        ends: dict[str, list[float]] = {"0": [], "1": []}
        for process in processes:
            lines = process.communicate(timeout=60)[0].splitlines()
            device = next(line.split()[1] for line in lines if line.startswith("holds"))
            ends[device].append(float(lines[-1].split()[1]))
        assert sum(map(len, ends.values())) == 4
        for times in ends.values():
            pairs = itertools.pairwise(sorted(times))
            assert all(later - earlier >= 0.3 for earlier, later in pairs)

    def test_memory_is_shared_out_as_devices_are(self) -> None:
        """Two that take more than half of the memory each do not run side by side."""
        with lease(Demand(memory_gb=MEMORY * 0.6), ()):
            process = start_python(HOLD, 0, "", 0, MEMORY * 0.6)
            assert process.stdout is not None
            assert process.stdout.readline() == "waits memory_gb\n"
        assert "done" in process.communicate(timeout=60)[0]

    def test_who_wants_several_gets_them_though_others_want_one_each(self) -> None:
        with lease(Demand(1), ("0", "1")) as held:
            process = start_python(HOLD, 2, "0,1", 0)
            assert process.stdout is not None
            assert process.stdout.readline() == "waits gpus\n"
            later = start_python(HOLD, 1, "0,1", 0)
            assert later.stdout is not None
            assert later.stdout.readline() == "waits gpus\n", "it goes before who has waited"
            assert held == ("0",)
        assert process.stdout.readline().startswith("holds 0,1")
        assert "done" in later.communicate(timeout=60)[0]
        process.communicate(timeout=60)

    def test_two_that_need_two_of_three_do_not_block_each_other(self) -> None:
        processes = [start_python(HOLD, 2, devices, 0.1) for devices in ("0,1,2", "2,1,0") * 2]
        for process in processes:
            assert "done" in process.communicate(timeout=60)[0]

    @pytest.mark.parametrize("devices", ["0", ""], ids=["holding", "waiting"])
    def test_a_killed_process_loses_its_claim(self, devices: str, table: Path) -> None:
        process = start_python(HOLD, 1, "0", 60)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("holds 0")
        if not devices:
            first, process = process, start_python(HOLD, 1, "0", 60)
            assert process.stdout is not None
            assert process.stdout.readline() == "waits gpus\n"
            first.kill()
            first.communicate()
        process.send_signal(signal.SIGKILL)
        begun = time.monotonic()
        with lease(Demand(1), ("0",)) as held:
            assert held == ("0",)
            assert len(list(table.glob("*.json"))) == 1, "what a dead one wrote stays behind"
        assert time.monotonic() - begun < 5
        process.communicate()

    def test_another_users_session_may_take_part(self, table: Path) -> None:
        with lease(Demand(1), ("0",)):
            assert table.stat().st_mode & 0o777 == 0o777
            assert (table / "lock").stat().st_mode & 0o666 == 0o666
            (claim,) = table.glob("*.json")
            assert claim.stat().st_mode & 0o444 == 0o444


DEVICES = ("0", "1", "2")
MACHINE = Demand(3, 8.0, 4)
demands = st.builds(Demand, st.integers(0, 3), st.sampled_from([0.0, 2, 5, 8]), st.integers(0, 4))


class TestSettling:
    def test_what_the_first_never_lacked_is_free_for_others(self) -> None:
        holder = Claim(Demand(3), DEVICES, held=True)
        first = Claim(Demand(1, 6), DEVICES, short=frozenset({"gpus"}))
        small = settle(Claim(Demand(0, 4), DEVICES), [holder, first], MACHINE)
        assert small.held
        device = settle(Claim(Demand(1), DEVICES), [first], MACHINE)
        assert device.devices == ("1",), "but not the device that is set aside for it"

    @given(st.lists(demands, min_size=1, max_size=12), st.randoms())
    def test_all_come_to_their_turn_and_nothing_is_held_twice(
        self, wanted: list[Demand], chance: random.Random
    ) -> None:
        waiting = {number: Claim(demand, DEVICES) for number, demand in enumerate(wanted)}
        held: dict[int, Claim] = {}
        for _ in range(20 * len(wanted)):
            for number in chance.sample(sorted(waiting), len(waiting)):
                before = [claim for other, claim in waiting.items() if other < number]
                claim = settle(waiting[number], [*held.values(), *before], MACHINE)
                waiting[number] = claim
                if claim.held:
                    held[number] = waiting.pop(number)
            devices = [device for claim in held.values() for device in claim.devices]
            assert len(devices) == len(set(devices))
            total = sum((claim.demand for claim in held.values()), Demand())
            assert not total.short_of(MACHINE)
            assert held or not waiting, "nobody holds anything, and yet all wait"
            if held:
                held.pop(chance.choice(sorted(held)))
        assert not waiting

    def test_nobody_is_passed_by_for_ever(self) -> None:
        """One that needs all devices and all memory gets them while small ones keep coming."""
        large = Claim(Demand(3, 8), DEVICES)
        held = [Claim(Demand(1, 2), (device,), held=True) for device in DEVICES]
        for _ in range(20):
            large = settle(large, held, MACHINE)
            if large.held:
                break
            if held:
                held.pop(0)
            small = settle(Claim(Demand(1, 2), DEVICES), [*held, large], MACHINE)
            if small.held:
                held.append(small)
        assert large.held


PROBER = '''
"""An agent that proves by a lock of the test's own that its devices are its alone."""
import fcntl, os, time
import pytest

class Prober:
    asks_llm = False

    def __init__(self, devices):
        self.devices = devices

    def run(self, environment):
        files = [open(f"device-{device}", "a") for device in self.devices]
        with open("log", "a") as log:
            try:
                for file in files:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                print("held", environment.task.name, len(files), flush=True, file=log)
            except BlockingIOError:
                print("VIOLATION", self.devices, flush=True, file=log)
        time.sleep(0.05)
        environment.act("Execute Script", script_name="train.py")
        environment.act("Final Answer", final_answer="done")

@pytest.fixture
def mlab_agent(mlab_gpu):
    return Prober(mlab_gpu)

def pytest_runtest_setup(item):
    open(f"worker-{os.getpid()}", "a").close()
'''


def find_workers(project: Project) -> list[int]:
    """Give the workers that are at a trial: xdist itself fails when one dies while it starts."""
    pids = [int(file.name.removeprefix("worker-")) for file in project.path.glob("worker-*")]
    return [pid for pid in pids if is_alive(pid)]


@pytest.mark.slow
@pytest.mark.skipif(not has_xdist(), reason="pytest-xdist is not installed")
def test_no_lease_and_no_trial_is_lost_when_workers_are_killed(project: Project) -> None:
    """200 trials, 8 workers, 3 devices, and every second or so a worker is killed."""
    project.write("conftest.py", PROBER)
    project.task("one", resources={"gpus": 1, "memory_gb": 0.1})
    project.task("two", resources={"gpus": 2, "memory_gb": 0.1})
    project.task("none", resources={"gpus": 0, "memory_gb": 0.1})
    project.task("cores", resources={"gpus": 1, "memory_gb": 0.1, "cpus": 1})
    command = [sys.executable, "-m", "pytest", "-n8", "--max-worker-restart=100", "tasks"]
    command += ["--mlab-trials=50", "--mlab-gpus=0,1,2", "--mlab-agent=baseline"]
    log, chance, killed = project.path / "log", random.Random(0), 0
    with (project.path / "output").open("w") as output:
        session = subprocess.Popen(command, cwd=project.path, stdout=output, stderr=output)
        assert wait_until(log.exists, 120)
        while session.poll() is None:
            time.sleep(chance.uniform(0.5, 2))
            if killed < 15 and (workers := find_workers(project)):
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed += 1
    text = (project.path / "output").read_text()
    assert session.returncode in (0, 1), text
    lines = log.read_text().splitlines()
    assert not [line for line in lines if "VIOLATION" in line]
    assert killed > 5
    results = project.results()
    assert len(results) == 200, text
    statuses = Counter(result.status for result in results.values())
    assert statuses["harness-error"] <= killed
    assert statuses["below-threshold"] == 200 - statuses["harness-error"], statuses
    assert not project.document()["not_run"]
