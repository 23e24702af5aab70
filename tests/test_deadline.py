"""A deadline ends code that runs in this process, however it spends its time."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from pytest_mlab.deadline import enforce_deadline
from pytest_mlab.exceptions import LimitReached

pytestmark = pytest.mark.timeout(20)


def run(seconds: float, body: Callable[[], object]) -> float:
    """Run a body that lasts longer than its deadline; give the seconds that it lasted."""
    begun = time.monotonic()
    with pytest.raises(LimitReached) as reached, enforce_deadline(seconds):
        body()
    assert reached.value.limit == "time"
    return time.monotonic() - begun


def compute() -> None:
    while True:
        pass


def wait_for_a_lock() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def swallow_exceptions() -> None:
    while True:
        with contextlib.suppress(Exception):
            time.sleep(0.01)


def swallow_once() -> None:
    try:
        compute()
    except BaseException:
        compute()


def swallow_everything() -> None:
    while True:
        try:
            time.sleep(0.01)
        except:  # noqa: E722
            continue


def refuse_to_leave() -> None:
    while True:
        try:
            time.sleep(0.01)
        finally:
            continue  # noqa: B012


@pytest.mark.parametrize(
    "body",
    [compute, lambda: time.sleep(60), wait_for_a_lock, swallow_exceptions],
    ids=["computes", "sleeps", "waits for a lock", "swallows exceptions"],
)
def test_a_body_is_ended_in_time(body: Callable[[], object]) -> None:
    assert 0.2 <= run(0.2, body) < 0.9


@pytest.mark.parametrize("body", [swallow_once, swallow_everything, refuse_to_leave])
def test_a_body_that_swallows_its_end_gets_another(body: Callable[[], object]) -> None:
    assert run(0.1, body) < 5


def test_a_body_that_is_done_in_time_is_left_alone() -> None:
    with enforce_deadline(0.3):
        value = 1
    time.sleep(0.4)
    assert value == 1


def test_an_exception_of_the_bodys_goes_through() -> None:
    with pytest.raises(ValueError, match="own"), enforce_deadline(10):
        raise ValueError("own")


def test_nothing_of_it_is_left_behind() -> None:
    handler, tracing, threads = (
        signal.getsignal(signal.SIGUSR1),
        sys.gettrace(),
        threading.active_count(),
    )
    for body in (compute, swallow_everything):
        run(0.05, body)
    assert signal.getsignal(signal.SIGUSR1) is handler
    assert sys.gettrace() is tracing
    assert threading.active_count() == threads


def test_elsewhere_than_in_the_main_thread_nothing_is_enforced() -> None:
    done = []

    def body() -> None:
        with enforce_deadline(0.01):
            time.sleep(0.1)
            done.append(True)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert done == [True]


def test_an_end_at_the_very_moment_of_the_deadline_is_one_or_the_other() -> None:
    """Whether the body came first or the signal did, nothing is raised later."""
    for number in range(200):
        with contextlib.suppress(LimitReached), enforce_deadline(0.002):
            time.sleep(0.0015 + number * 0.000005)
    time.sleep(1.1)
