"""Which trial starts next, and when all will have ended: the longest first that there is room for.

Trials are few and their lengths differ a hundredfold. Whoever starts the longest last waits for it
alone; so does whoever leaves devices idle for want of a trial that asks for none.
"""

import heapq
import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_mlab.resources import NOTHING, Demand
from pytest_mlab.results import Identity

Worker = TypeVar("Worker")
Key = TypeVar("Key")


@dataclass(frozen=True)
class Need:
    """What is known of a trial before it runs: seconds stated and allowed, and what it takes."""

    expected_seconds: float | None = None
    limit_seconds: float | None = None
    demand: Demand = NOTHING


@dataclass(frozen=True)
class Planned:
    """A trial that a session is going to run."""

    identity: Identity
    need: Need = Need()


@dataclass(frozen=True)
class Job:
    """A trial as the plan sees it: how long it will take, and what of the machine."""

    seconds: float
    demand: Demand = NOTHING

    def after(self, seconds: float) -> "Job":
        """Give what remains of the job; one that is overdue takes as long again as it is over."""
        return Job(abs(self.seconds - seconds), self.demand)


class Expectations:
    """How long trials take, by task, agent and LLM: as learnt, else as the task's author says.

    ``learnt`` are the mean seconds of earlier sessions, in which they count as one trial.
    """

    def __init__(self, learnt: Mapping[str, float]) -> None:
        self._seconds = {key: [seconds] for key, seconds in learnt.items()}

    def learn(self, identity: Identity, seconds: float) -> None:
        """Take in how long a trial has lasted."""
        self._seconds.setdefault(_key(identity), []).append(seconds)

    def of(self, planned: Planned) -> float | None:
        """Give the seconds to expect, `None` where nothing is known."""
        seconds, need = self._seconds.get(_key(planned.identity)), planned.need
        expected = statistics.fmean(seconds) if seconds else need.expected_seconds
        if expected is None or need.limit_seconds is None:
            return expected
        return min(expected, need.limit_seconds)

    def to_dict(self) -> dict[str, float]:
        """Give what is learnt, for sessions to come."""
        return {key: statistics.fmean(seconds) for key, seconds in self._seconds.items()}


def _key(identity: Identity) -> str:
    return f"{identity.task} {identity.agent} {identity.llm or ''}".strip()


def make_jobs(
    expected: Mapping[Key, tuple[float | None, Demand]], machine: Demand
) -> dict[Key, Job]:
    """Make jobs of what trials are expected to take.

    One of which nothing is known is taken to be as long as the longest: started early, it cannot
    be what all wait for in the end. One that the machine cannot hold will be skipped at once.
    """
    longest = max((seconds for seconds, _ in expected.values() if seconds is not None), default=1.0)
    return {
        key: Job(0.0)
        if demand.short_of(machine)
        else Job(longest if seconds is None else seconds, demand)
        for key, (seconds, demand) in expected.items()
    }


def choose_next(
    worker: Worker,
    hands: Mapping[Worker, Sequence[Job]],
    pending: Sequence[Job],
    machine: Demand,
) -> int:
    """Give the index of the job that a worker is to be given, of those ``pending``, longest first.

    ``hands`` are the jobs that each worker has, the one it is at (with the seconds that remain of
    it) before those that it will do next. The choice is what the worker would take when it is
    free, if each worker always took the longest job that there is room for. A worker that is free
    only after all the others are done gets the shortest.
    """
    first = {worker: hands[worker], **hands}
    for whose, index, _ in _simulate(first, pending, machine):
        if whose == worker and index is not None:
            return index
    return len(pending) - 1


def estimate_seconds(
    hands: Mapping[Worker, Sequence[Job]], pending: Sequence[Job], machine: Demand
) -> float:
    """Give the seconds until all is done."""
    return max((end for _, _, end in _simulate(hands, pending, machine)), default=0.0)


def _simulate(
    hands: Mapping[Worker, Sequence[Job]], pending: Sequence[Job], machine: Demand
) -> Iterator[tuple[Worker, int | None, float]]:
    """Give which worker does which job (by its index, `None` for one in hand) until when."""
    ranks = itertools.count()
    queues = {worker: list(jobs) for worker, jobs in hands.items()}
    waiting = list(range(len(pending)))
    free_at: list[tuple[float, int, Worker]] = []
    running: list[tuple[float, int, Demand]] = []
    room = machine
    for worker, queue in queues.items():
        rank, end = next(ranks), 0.0
        if queue:
            job = queue.pop(0)
            end, room = job.seconds, room - job.demand
            heapq.heappush(running, (end, rank, job.demand))
            yield worker, None, end
        heapq.heappush(free_at, (end, rank, worker))
    while free_at:
        now, rank, worker = heapq.heappop(free_at)
        while running and running[0][0] <= now:
            room += heapq.heappop(running)[2]
        queue = queues[worker]
        choices = iter(queue[:1]) if queue else (pending[index] for index in waiting)
        fitting = next((i for i, job in enumerate(choices) if not job.demand.short_of(room)), None)
        if not queue and not waiting:
            continue
        if fitting is None and running:
            heapq.heappush(free_at, (running[0][0], rank, worker))
            continue
        index = None if queue else waiting.pop(fitting or 0)
        job = queue.pop(0) if index is None else pending[index]
        end, room = now + job.seconds, room - job.demand
        heapq.heappush(running, (end, next(ranks), job.demand))
        heapq.heappush(free_at, (end, rank, worker))
        yield worker, index, end
