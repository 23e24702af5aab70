"""A session's budget holds, however many processes use it at once."""

import multiprocessing
import threading
import time
from pathlib import Path

import pytest

from pytest_mlab.allowance import Allowance
from pytest_mlab.budget import Budget
from pytest_mlab.exceptions import BudgetSpent


def open_budget(folder: Path, *, began: float = 0.0, **limits: float) -> Budget:
    """Open a budget of a session that began so many hours ago."""
    return Budget(folder / "budget", Allowance(**limits), time.monotonic() - began * 3600)


def test_a_call_is_booked_at_its_most_and_settled_at_what_it_took(tmp_path: Path) -> None:
    budget = open_budget(tmp_path, usd=1.0)
    entry = budget.book(0.75, 100)
    assert (budget.spent.usd, budget.spent.tokens) == (0.75, 100)
    budget.settle(entry, 0.25, 30)
    assert (budget.spent.usd, budget.spent.tokens) == (0.25, 30)


def test_what_does_not_fit_is_not_booked(tmp_path: Path) -> None:
    budget = open_budget(tmp_path, usd=1.0, tokens=100)
    budget.book(0.75, 50)
    with pytest.raises(BudgetSpent, match=r"of 1 USD .* 0\.75 are used.* may take 0\.5;"):
        budget.book(0.5, 10)
    with pytest.raises(BudgetSpent, match=r"of 100 tokens .* 50 are used.* may take 60;"):
        budget.book(0.1, 60)
    assert budget.spent.usd == 0.75
    budget.book(0.25, 50)


def test_a_call_waits_for_others_that_may_turn_out_cheaper(tmp_path: Path) -> None:
    budget, other = (open_budget(tmp_path, usd=1.0) for _ in range(2))
    entry = other.book(0.75, 0)
    settling = threading.Timer(0.3, other.settle, (entry, 0.25, 0))
    settling.start()
    budget.book(0.5, 0, patience=30)
    settling.join()
    assert budget.spent.usd == 0.75


def test_a_call_does_not_wait_in_vain(tmp_path: Path) -> None:
    budget = open_budget(tmp_path, usd=1.0)
    budget.settle(budget.book(0.75, 0), 0.75, 0)
    with pytest.raises(BudgetSpent):
        budget.book(0.5, 0, patience=1000)  # nothing is under way
    budget.book(0.25, 0)
    with pytest.raises(BudgetSpent, match="1 are used or booked"):
        budget.book(0.1, 0, patience=0.2)


def test_what_a_killed_worker_booked_stays_booked(tmp_path: Path) -> None:
    open_budget(tmp_path, usd=1.0).book(0.75, 0)
    assert open_budget(tmp_path, usd=1.0).spent.usd == 0.75


def test_before_a_trial_only_what_it_would_use_is_looked_at(tmp_path: Path) -> None:
    budget = open_budget(tmp_path, usd=1.0, gpu_hours=8)
    budget.book(1.0, 0)
    budget.check()
    budget.check("gpu_hours", "tokens")
    with pytest.raises(BudgetSpent, match="budget of 1 USD is used up") as spent:
        budget.check("usd", "tokens")
    assert spent.value.limit == "1 USD"


def test_time_is_everyones(tmp_path: Path) -> None:
    open_budget(tmp_path, began=2.9, hours=3).check()
    with pytest.raises(BudgetSpent, match="budget of 3 h is used up"):
        open_budget(tmp_path, began=3.1, hours=3).check()


def test_a_clock_that_is_set_back_gives_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = open_budget(tmp_path, began=1.0, gpu_hours=1)
    with budget.hold_devices(4, 60):
        time.sleep(0.05)
        monkeypatch.setattr(time, "time", lambda: 0.0)
        assert budget.spent.hours >= 1.0
        assert budget.spent.gpu_hours >= 4 * 0.05 / 3600
    assert budget.spent.gpu_hours >= 4 * 0.05 / 3600


def test_devices_count_from_when_a_trial_begins(tmp_path: Path) -> None:
    budget, other = (open_budget(tmp_path, gpu_hours=1e-4) for _ in range(2))  # 0.36 s
    with budget.hold_devices(4, 60):
        time.sleep(0.12)
        with pytest.raises(BudgetSpent, match=r"budget of 0\.0001 GPU-hours is used up"):
            other.check("gpu_hours")
    held = other.spent.gpu_hours
    assert held >= 4 * 0.12 / 3600
    time.sleep(0.05)
    assert other.spent.gpu_hours == held


def test_devices_of_a_killed_worker_count_for_no_longer_than_a_trial_may_take(
    tmp_path: Path,
) -> None:
    budget = open_budget(tmp_path, gpu_hours=1)
    held = budget.hold_devices(2, 0.05)
    held.__enter__()  # and never leaves it
    time.sleep(0.1)
    assert budget.spent.gpu_hours == pytest.approx(2 * 0.05 / 3600)


def test_no_device_is_no_entry(tmp_path: Path) -> None:
    budget = open_budget(tmp_path, gpu_hours=1)
    with budget.hold_devices(0, 60):
        assert not budget.path.exists()


def test_it_says_what_is_used_of_what_is_limited(tmp_path: Path) -> None:
    budget = open_budget(tmp_path, usd=5, tokens=2e6)
    budget.book(1.25, 1200)
    assert budget.describe() == "1.25 of 5 USD, 1,200 of 2,000,000 tokens"


def spend(path: Path, calls: int) -> int:
    """Book and settle calls of ten cents until the budget is spent; give how many went through."""
    budget = Budget(path, Allowance(usd=1.0), time.monotonic())
    done = 0
    for _ in range(calls):
        try:
            entry = budget.book(0.2, 10)
        except BudgetSpent:
            break
        budget.settle(entry, 0.1, 5)
        done += 1
    return done


def test_processes_share_one(tmp_path: Path) -> None:
    path = tmp_path / "budget"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        done = sum(pool.starmap(spend, [(path, 20)] * 4))
    spent = open_budget(tmp_path, usd=1.0).spent
    assert spent.usd == pytest.approx(0.1 * done)
    assert spent.tokens == 5 * done
    # The last calls that would have fitted may have met the others' bookings.
    assert 0.5 <= spent.usd <= 1.0
