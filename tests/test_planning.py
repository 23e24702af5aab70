"""Which trial starts next: the longest first, as far as the machine has room for it."""

import heapq
import random
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.planning import (
    Expectations,
    Job,
    Need,
    Planned,
    choose_next,
    estimate_seconds,
    make_jobs,
)
from pytest_mlab.resources import NOTHING, Demand
from pytest_mlab.results import Identity

ONE_GPU = Demand(gpus=1)


def identity(task: str = "digits", agent: str = "baseline") -> Identity:
    """Give the identity of a trial."""
    return Identity(task=task, agent=agent, llm=None, trial=1, nodeid="n", task_digest="d", seed=0)


def jobs(*seconds: float, demand: Demand = NOTHING) -> list[Job]:
    """Make jobs of these lengths."""
    return [Job(length, demand) for length in seconds]


def play(actual: Sequence[float], expected: Sequence[float], workers: int) -> float:
    """Let workers do jobs, each holding one more than it is at, and give when the last is done."""
    pending = sorted(range(len(actual)), key=lambda index: -expected[index])
    hands: dict[int, list[int]] = {worker: [] for worker in range(workers)}
    begun = dict.fromkeys(hands, 0.0)
    now = 0.0

    def deal(worker: int) -> None:
        held = {at: [Job(expected[index]) for index in hand] for at, hand in hands.items()}
        for at, hand in held.items():
            hand[:1] = [job.after(now - begun[at]) for job in hand[:1]]
        chosen = choose_next(worker, held, [Job(expected[index]) for index in pending], NOTHING)
        hands[worker].append(pending.pop(chosen))

    for worker in [*hands, *hands]:
        if pending:
            deal(worker)
    ends = [(actual[hand[0]], worker) for worker, hand in hands.items() if hand]
    heapq.heapify(ends)
    while ends:
        now, worker = heapq.heappop(ends)
        hands[worker].pop(0)
        begun[worker] = now
        if pending:
            deal(worker)
        if hands[worker]:
            heapq.heappush(ends, (now + actual[hands[worker][0]], worker))
    return now


class TestMakespan:
    @pytest.mark.parametrize("workers", [2, 4, 8])
    def test_is_next_to_the_least_that_is_possible_with_exact_expectations(
        self, workers: int
    ) -> None:
        for seed in range(10):
            chance = random.Random(seed)
            means = [chance.lognormvariate(0, 1.2) for _ in range(13)]
            seconds = [mean * chance.lognormvariate(0, 0.5) for mean in means for _ in range(8)]
            least = max(*seconds, sum(seconds) / workers)
            assert play(seconds, seconds, workers) <= 1.02 * least

    def test_is_next_to_it_on_average_where_only_the_means_of_tasks_are_known(self) -> None:
        ratios = []
        for seed in range(10):
            chance = random.Random(seed)
            means = [chance.lognormvariate(0, 1.2) for _ in range(13)]
            seconds = [mean * chance.lognormvariate(0, 0.5) for mean in means for _ in range(8)]
            stated = [mean for mean in means for _ in range(8)]
            ratios.append(play(seconds, stated, 4) / max(*seconds, sum(seconds) / 4))
        assert statistics.fmean(ratios) <= 1.05

    @given(
        st.lists(st.floats(0.1, 100), min_size=1, max_size=12),
        st.integers(min_value=1, max_value=5),
    )
    def test_is_never_beyond_what_one_in_hand_can_cost(
        self, seconds: list[float], workers: int
    ) -> None:
        least = max(*seconds, 0, sum(seconds) / workers)
        assert play(seconds, seconds, workers) <= 2 * least + 1e-6


class TestChoosing:
    def test_the_longest_comes_first(self) -> None:
        assert choose_next("a", {"a": [], "b": []}, jobs(9, 5, 1), NOTHING) == 0

    def test_a_worker_at_a_long_one_holds_what_is_left_for_it(self) -> None:
        hands = {"a": jobs(9), "b": jobs(2)}
        assert choose_next("a", hands, jobs(5, 3, 1), NOTHING) == 2
        assert choose_next("b", hands, jobs(5, 3, 1), NOTHING) == 0

    def test_one_that_is_free_last_holds_the_shortest(self) -> None:
        assert choose_next("a", {"a": jobs(99), "b": jobs(1)}, jobs(5, 3, 1), NOTHING) == 2

    def test_what_there_is_no_room_for_waits_while_something_else_can_run(self) -> None:
        machine = Demand(gpus=1, cpus=2)
        hands: dict[str, list[Job]] = {"a": [Job(9, ONE_GPU)], "b": []}
        assert choose_next("b", hands, [Job(9, ONE_GPU), Job(1)], machine) == 1
        assert choose_next("b", hands, [Job(9, ONE_GPU)], machine) == 0

    @given(st.data())
    def test_something_is_always_chosen(self, data: st.DataObject) -> None:
        machine = Demand(gpus=2, memory_gb=8, cpus=4)
        demands = st.builds(Demand, st.integers(0, 2), st.floats(0, 8), st.integers(0, 4))
        some = st.lists(st.builds(Job, st.floats(0, 50), demands), max_size=6)
        hands = {name: data.draw(some) for name in "abc"}
        pending = data.draw(some.filter(bool))
        assert 0 <= choose_next("a", hands, pending, machine) < len(pending)
        total = estimate_seconds(hands, pending, machine)
        assert total >= max(job.seconds for job in pending)


class TestEstimate:
    def test_is_of_the_last_to_end(self) -> None:
        assert estimate_seconds({"a": jobs(4), "b": []}, jobs(3, 3), NOTHING) == 6

    def test_counts_what_waits_for_room(self) -> None:
        hands: dict[str, list[Job]] = {"a": [], "b": []}
        assert estimate_seconds(hands, jobs(3, 3, demand=ONE_GPU), Demand(gpus=1)) == 6

    def test_is_nothing_where_nothing_is_left(self) -> None:
        assert estimate_seconds({"a": []}, [], NOTHING) == 0


class TestExpectations:
    def test_are_the_authors_until_one_was_seen(self) -> None:
        expectations = Expectations({})
        planned = Planned(identity(), Need(expected_seconds=30))
        assert expectations.of(planned) == 30
        expectations.learn(identity(), 10)
        expectations.learn(identity(), 20)
        assert expectations.of(planned) == 15

    def test_are_of_task_and_agent_together(self) -> None:
        expectations = Expectations({"digits baseline": 4.0})
        assert expectations.of(Planned(identity())) == 4
        assert expectations.of(Planned(identity(agent="solution"))) is None

    def test_are_at_most_what_a_trial_may_take(self) -> None:
        planned = Planned(identity(), Need(expected_seconds=30, limit_seconds=5))
        assert Expectations({}).of(planned) == 5

    def test_of_earlier_sessions_count_as_one_trial(self) -> None:
        expectations = Expectations({"digits baseline": 10.0})
        expectations.learn(identity(), 20)
        assert expectations.to_dict() == {"digits baseline": 15.0}


class TestJobs:
    def test_what_is_unknown_is_taken_to_be_the_longest(self) -> None:
        known = {"a": (3.0, NOTHING), "b": (None, NOTHING), "c": (7.0, NOTHING)}
        assert make_jobs(known, NOTHING)["b"] == Job(7)
        assert make_jobs({"a": (None, NOTHING)}, NOTHING)["a"] == Job(1)

    def test_what_the_machine_cannot_hold_is_over_at_once(self) -> None:
        assert make_jobs({"a": (3.0, ONE_GPU)}, Demand(cpus=4))["a"] == Job(0)

    def test_what_is_overdue_takes_as_long_again_as_it_is_over(self) -> None:
        assert Job(10).after(4) == Job(6)
        assert Job(10).after(13) == Job(3)
