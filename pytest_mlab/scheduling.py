"""The scheduler of pytest-xdist for few, long items: the only module that imports xdist.

A worker of xdist begins an item only when it holds the one after it. So the choice of what it does
next is made not when it is free, but one trial earlier, by what trials are expected to take.
"""

import time
from collections.abc import Sequence

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling
from xdist.workermanage import WorkerController

from pytest_mlab import runs
from pytest_mlab.ordering import rank_trials
from pytest_mlab.pace import PACE
from pytest_mlab.planning import Job, Planned, choose_next, make_jobs
from pytest_mlab.resources import NOTHING, Demand, measure_machine
from pytest_mlab.session import DEVICES, session_folder

IN_HAND = 2
"""The item that a worker is at and the one that it must hold to begin it."""


class TrialScheduling(LoadScheduling):
    """Deals out trials singly, the longest first; a session without trials as xdist does.

    Ordinary tests come before all trials, in batches as xdist deals them: with ``-x``, nothing is
    spent on trials while a test of the project's own fails.
    """

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self._machine = measure_machine(len(config.stash[DEVICES]))
        self._expectations = config.stash[PACE].expectations
        self._trials: dict[int, Planned] = {}
        self._begun: dict[WorkerController, float] = {}
        self._rank = rank_trials(config)

    def schedule(self) -> None:
        """Deal the first items out once all workers have collected, else to those who lack some."""
        if self.collection is None and self._check_nodes_have_same_collection():
            collection = next(iter(self.node2collection.values()))
            planned = runs.read_planned(session_folder(self.config))
            self._trials = {
                index: planned[nodeid]
                for index, nodeid in enumerate(collection)
                if nodeid in planned
            }
            if self._trials:
                self.collection = collection
                self.pending[:] = range(len(collection))
                for _ in range(IN_HAND):
                    for node in self.nodes:
                        self._deal(node)
                self._release_if_all_is_dealt()
                return
        super().schedule()

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        """Note that a worker has begun the item it held, and deal it another."""
        self._begun[node] = time.monotonic()
        super().mark_test_complete(node, item_index, duration)

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        """Deal a worker what it lacks."""
        if not self._trials:
            super().check_schedule(node, duration)
            return
        while not node.shutting_down and len(self.node2pending[node]) < IN_HAND:
            if not self._deal(node):
                break
        self._release_if_all_is_dealt()

    def _deal(self, node: WorkerController) -> bool:
        """Send a worker its next trial, or a batch of ordinary tests as long as there are some.

        Gives False where nothing could be sent: all is dealt, or the worker has died, of which
        xdist has yet to be told. What it would have got stays for the others.
        """
        batch = [index for index in self.pending if index not in self._trials]
        if batch:
            batch = batch[: max(1, len(batch) // len(self.nodes) // 4)]
        elif self.pending:
            batch = [self._choose_trial(node)]
        if not batch:
            return False
        try:
            node.send_runtest_some(batch)
        except OSError:
            return False
        dealt = set(batch)
        self.pending[:] = [index for index in self.pending if index not in dealt]
        self._begun.setdefault(node, time.monotonic())
        self.node2pending[node].extend(batch)
        return True

    def _choose_trial(self, node: WorkerController) -> int:
        jobs = self._make_jobs()
        hands = {node: self._hand_of(node, jobs) for node in self.nodes}
        self.pending.sort(key=lambda index: -jobs[index].seconds)
        first = self._first_in_rank()
        return first[choose_next(node, hands, [jobs[index] for index in first], self._machine)]

    def _first_in_rank(self) -> list[int]:
        """Give the pending trials that come before all others: of this round, not of the next."""
        if self._rank is None:
            return self.pending
        ranks = {index: self._rank(self._trials[index].identity) for index in self.pending}
        best = min(ranks.values())
        return [index for index, rank in ranks.items() if rank == best]

    def _make_jobs(self) -> dict[int, Job]:
        """Make jobs of all that is not done; ordinary tests count for nothing."""
        unknown: dict[int, tuple[float | None, Demand]] = {}
        held = [index for hand in self.node2pending.values() for index in hand]
        for index in (*self.pending, *held):
            trial = self._trials.get(index)
            unknown[index] = (
                (0.0, NOTHING)
                if trial is None
                else (self._expectations.of(trial), trial.need.demand)
            )
        return make_jobs(unknown, self._machine)

    def _hand_of(self, node: WorkerController, jobs: dict[int, Job]) -> Sequence[Job]:
        hand = [jobs[index] for index in self.node2pending[node]]
        if hand:
            lasted = time.monotonic() - self._begun[node]
            hand[0] = hand[0].after(lasted)
        return hand

    def _release_if_all_is_dealt(self) -> None:
        """Let workers begin the last item that they hold: there will be none after it."""
        if not self.pending:
            for node in self.nodes:
                if not node.shutting_down:
                    node.shutdown()
