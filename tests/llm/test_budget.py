"""A session's budget holds, however many processes spend it at once."""

import multiprocessing
from pathlib import Path

import pytest

from pytest_mlab.llm.budget import Budget
from pytest_mlab.llm.errors import BudgetSpent


def test_a_call_is_booked_at_its_most_and_settled_at_what_it_cost(tmp_path: Path) -> None:
    budget = Budget(tmp_path / "budget", 1.0)
    entry = budget.book(0.75)
    assert (budget.spent, budget.left) == (0.75, 0.25)
    budget.settle(entry, 0.25)
    assert (budget.spent, budget.left) == (0.25, 0.75)


def test_what_does_not_fit_is_not_booked(tmp_path: Path) -> None:
    budget = Budget(tmp_path / "budget", 1.0)
    budget.book(0.75)
    with pytest.raises(BudgetSpent, match=r"\$1\.00.*\$0\.7500 is spent.*\$0\.5000"):
        budget.book(0.5)
    assert budget.spent == 0.75
    budget.book(0.25)


def test_what_a_killed_worker_booked_stays_booked(tmp_path: Path) -> None:
    Budget(tmp_path / "budget", 1.0).book(0.75)
    assert Budget(tmp_path / "budget", 1.0).left == 0.25


def spend(path: Path, calls: int) -> int:
    """Book and settle calls of ten cents until the budget is spent; give how many went through."""
    budget = Budget(path, 1.0)
    done = 0
    for _ in range(calls):
        try:
            entry = budget.book(0.2)
        except BudgetSpent:
            break
        budget.settle(entry, 0.1)
        done += 1
    return done


def test_processes_share_one(tmp_path: Path) -> None:
    path = tmp_path / "budget"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        done = sum(pool.starmap(spend, [(path, 20)] * 4))
    spent = Budget(path, 1.0).spent
    assert spent == pytest.approx(0.1 * done)
    # The last calls that would have fitted may have met the others' bookings.
    assert 0.5 <= spent <= 1.0
