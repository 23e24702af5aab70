"""A command is bounded in time and bytes, and nothing of its group outlives it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.process import Completed, Excerpt, run_command

Shell = Callable[..., Completed]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run a line of shell in an empty folder."""

    def run(line: str, *, seconds: float = 10, **options: object) -> Completed:
        return run_command(
            ["/bin/sh", "-c", line],
            cwd=tmp_path,
            environment={"PATH": os.environ["PATH"]},
            seconds=seconds,
            **options,  # type: ignore[arg-type]
        )

    return run


def is_alive(pid: int) -> bool:
    try:
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].startswith(" Z")
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_both_streams_and_the_exit_code_are_told(shell: Shell) -> None:
    run = shell("echo out; echo err >&2; exit 3")
    assert (run.exit_code, run.stdout, run.stderr, run.ended) == (3, "out\n", "err\n", "exited")
    assert run.describe_end() == "exit code 3"


def test_the_signal_that_ended_it_is_named(shell: Shell) -> None:
    run = shell("kill -SEGV $$")
    assert (run.exit_code, run.describe_end()) == (-signal.SIGSEGV, "killed by SIGSEGV")


def test_only_the_environment_it_is_given_reaches_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in shell("env").stdout


def test_standard_input_is_what_was_given_then_ends(shell: Shell) -> None:
    text = b"0123456789" * 50_000
    assert shell("wc -c", stdin=text).stdout.strip() == "500000"


def test_without_standard_input_there_is_nothing_to_wait_for(shell: Shell) -> None:
    assert shell("cat").ended == "exited"


def test_a_command_that_does_not_read_its_input_is_no_error(shell: Shell) -> None:
    assert shell("exit 0", stdin=b"x" * 1_000_000).exit_code == 0


def test_a_missing_command_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_command(["/nonexistent"], cwd=tmp_path, environment={}, seconds=1)


def test_descriptors_can_be_passed_on(shell: Shell) -> None:
    reading, writing = os.pipe()
    shell(f"echo told >/dev/fd/{writing}", pass_fds=(writing,))
    os.close(writing)
    with os.fdopen(reading) as channel:
        assert channel.read() == "told\n"


def test_it_is_killed_at_its_time_limit_with_what_it_said_so_far(shell: Shell) -> None:
    run = shell("echo begun; sleep 60", seconds=0.3)
    assert (run.exit_code, run.stdout, run.ended) == (None, "begun\n", "timeout")
    assert 0.3 <= run.seconds < 2
    assert "time limit" in run.describe_end()


def test_a_command_that_ignores_signals_is_killed_all_the_same(shell: Shell) -> None:
    run = shell("trap '' TERM INT HUP; echo begun; while :; do sleep 1; done", seconds=0.3)
    assert run.ended == "timeout"
    assert run.seconds < 2


def test_too_much_output_ends_it(shell: Shell) -> None:
    run = shell("yes", max_bytes=1_000_000, keep_chars=100)
    assert (run.exit_code, run.ended) == (None, "output-limit")
    assert run.seconds < 5
    assert len(run.stdout) < 200


def test_head_and_tail_of_long_output_are_kept_and_the_rest_counted(shell: Shell) -> None:
    run = shell("printf head; head -c 10000 /dev/zero | tr '\\0' x; printf tail", keep_chars=10)
    assert run.stdout == "headx\n[... 9,998 characters left out ...]\nxtail"


def test_output_that_is_not_utf8_is_replaced(shell: Shell) -> None:
    assert shell(r"printf 'a\377b'").stdout == "a\ufffdb"


def test_the_log_can_be_followed_while_it_runs(shell: Shell, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"before\n")
    script = """
        echo one; sleep 0.2; echo two >&2; sleep 0.2; printf '\\377'
        while [ ! -e go ]; do sleep 0.01; done
    """
    seen: list[bytes] = []

    def follow() -> None:
        wait_until(lambda: b"\xff" in log.read_bytes())
        seen.append(log.read_bytes())
        (tmp_path / "go").touch()

    follower = threading.Thread(target=follow)
    follower.start()
    run = shell(script, log=log)
    follower.join()
    assert run.ended == "exited"
    assert seen == [b"before\none\ntwo\n\xff"]


def test_a_child_in_the_background_does_not_outlive_it(shell: Shell) -> None:
    run = shell("sleep 60 & echo $!")
    assert run.seconds < 2
    assert wait_until(lambda: not is_alive(int(run.stdout)))


def test_a_daemon_that_holds_the_pipes_delays_nothing(shell: Shell) -> None:
    run = shell("setsid sh -c 'echo $$; exec sleep 60' & sleep 0.2")
    daemon = int(run.stdout)
    try:
        assert run.seconds < 1
    finally:
        os.kill(daemon, signal.SIGKILL)


def test_a_timeout_kills_grandchildren(shell: Shell) -> None:
    run = shell("sh -c 'sleep 60 & echo $!; wait'", seconds=0.3)
    assert wait_until(lambda: not is_alive(int(run.stdout)))


class Interrupted(BaseException):
    """What a signal handler raises, as pytest-timeout's does."""


def test_an_exception_out_of_a_signal_handler_kills_the_group_and_goes_on(
    shell: Shell, tmp_path: Path
) -> None:
    def interrupt(*_: object) -> None:
        raise Interrupted

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Interrupted):
            shell("sleep 60 & echo $! > pid; wait")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    child = int((tmp_path / "pid").read_text())
    assert wait_until(lambda: not is_alive(child))


def test_waiting_burns_no_processor_time(shell: Shell) -> None:
    before = time.process_time()
    shell("sleep 0.5")
    assert time.process_time() - before < 0.1


def test_python_output_arrives_in_order(tmp_path: Path) -> None:
    script = "for i in range(20000): print(i)"
    run = run_command(
        [sys.executable, "-c", script], cwd=tmp_path, environment={}, seconds=20, keep_chars=10**6
    )
    assert run.stdout.split() == [str(i) for i in range(20000)]


@given(text=st.text(max_size=200), keep=st.integers(1, 50), cut=st.integers(1, 20))
def test_an_excerpt_does_not_depend_on_how_the_bytes_were_cut(
    text: str, keep: int, cut: int
) -> None:
    data = text.encode("utf-8", "replace")
    text = data.decode()
    excerpt = Excerpt(keep)
    for start in range(0, len(data), cut):
        excerpt.feed(data[start : start + cut])
    head, tail = keep - keep // 2, keep // 2
    if len(text) <= keep:
        assert excerpt.text() == text
    else:
        left_out = len(text) - keep
        assert excerpt.text() == (
            f"{text[:head]}\n[... {left_out:,} characters left out ...]\n{text[len(text) - tail :]}"
        )
