"""Whole sessions in real containers, and what only an engine can show; else see `test_container`.

They are skipped, which is said, where there is no engine: ``tox -e container`` runs them.
"""

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_mlab.process import Completed, run_command
from tests.processes import wait_until
from tests.projects import BLOCKED, Project
from tests.sandbox.conftest import Attack, Place, get_engine
from tests.sandbox.engines import Engine

pytestmark = [pytest.mark.container, pytest.mark.slow]

AGENTS = '''
import sys

def work(environment):
    """Use a script, the REPL and what a script cannot change, and hand in what succeeds."""
    assert "CUT = 1" in environment.act("Read File", file_name="train.py").text
    environment.act("Python REPL", command="import os, socket; cut = 4")
    where = environment.act("Python REPL", command="print(socket.gethostname(), os.getcwd())")
    assert where.text.split()[0] == "mlab", where.text
    environment.act(
        "Write File", file_name="look.py", content="import os; print(sorted(os.listdir('data')))"
    )
    seen = environment.act("Execute Script", script_name="look.py")
    assert "['test.csv', 'train.csv']" in seen.text, seen.text
    failed = environment.act("Write File", file_name="fail.py", content="1 / 0")
    failed = environment.act("Execute Script", script_name="fail.py")
    assert "ZeroDivisionError" in failed.text, failed.text
    environment.act(
        "Python REPL", command="source = open('train.py').read().replace('CUT = 1', f'CUT = {cut}')"
    )
    environment.act("Python REPL", command="print(source, file=open('better.py', 'w'))")
    environment.act("Execute Script", script_name="better.py")
    environment.act("Final Answer", final_answer="cut at 4")

def peek(environment):
    """Open what looks like the hidden answers."""
    environment.act("Write File", file_name="peek.py", content="open('/private/labels.csv')")
    environment.act("Execute Script", script_name="peek.py")
    environment.act("Execute Script", script_name="train.py")
    environment.act("Final Answer", final_answer="found")

def sleep(environment):
    """Run what does not end by itself."""
    environment.act(
        "Write File", file_name="sleep.py", content="import time; print('up'); time.sleep(600)"
    )
    environment.act("Execute Script", script_name="sleep.py")
'''


@pytest.fixture
def engine() -> Engine:
    return get_engine()


@pytest.fixture
def options(engine: Engine, project: Project) -> tuple[str, ...]:
    """Give the options of a session in containers, of a project with a task and some agents."""
    project.task("cut")
    project.write("inside.py", AGENTS)
    return ("tasks", f"--mlab-sandbox=container:{engine.command}", f"--mlab-image={engine.image}")


def containers(engine: Engine, place: Path) -> list[str]:
    """Give the containers that there are, running or not, which see something of a folder."""
    lines = engine.run("ps", "--all", "--no-trunc", "--format", "{{.Names}} {{.Mounts}}")
    return [line for line in lines.splitlines() if str(place) in line]


def processes_of(container: str) -> list[str]:
    """Give the command lines of processes that are about a container, by its name."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if container.encode() in (line := file.read_bytes()):
                found.append(line.decode())
    return found


class TestASession:
    """Whole trials by the real command line: actions, scripts, the REPL, the scorer."""

    def test_in_which_the_baseline_runs(self, project: Project, options: tuple[str, ...]) -> None:
        run = project.run(*options, "--mlab-agent=baseline", "--mlab-agent=solution", "-n2")
        run.assert_outcomes(passed=1, failed=1)
        run.stdout.fnmatch_lines(["mlab: sandbox container*"])
        results = {result.agent: result for result in project.results().values()}
        assert results["baseline"].score == pytest.approx(0.7)
        assert results["baseline"].status == "below-threshold"
        assert results["solution"].score == 1.0
        assert results["solution"].status == "success"

    def test_in_which_an_agent_runs_scripts_and_the_repl(
        self, project: Project, options: tuple[str, ...]
    ) -> None:
        run = project.run(*options, "--mlab-agent=inside:work")
        run.assert_outcomes(passed=1)
        assert project.statuses() == {"cut": "success"}

    def test_in_which_a_decoy_is_opened(self, project: Project, options: tuple[str, ...]) -> None:
        project.run(*options, "--mlab-agent=inside:peek").assert_outcomes(failed=1)
        assert project.statuses() == {"cut": "tampered"}

    def test_that_is_killed_leaves_no_container(
        self, project: Project, options: tuple[str, ...], engine: Engine
    ) -> None:
        blocked = [part for name in BLOCKED for part in ("-p", f"no:{name}")]
        command = [sys.executable, "-m", "pytest", *blocked, *options, "--mlab-agent=inside:sleep"]
        session = subprocess.Popen(
            command, cwd=project.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            outputs = ".mlab/*/*/**/outputs/*.txt"
            assert wait_until(
                lambda: any("up" in path.read_text() for path in project.path.glob(outputs)), 60
            )
            assert containers(engine, project.path)
        finally:
            session.kill()
            session.wait()
        assert wait_until(lambda: not containers(engine, project.path), 30)


def test_a_container_is_gone_when_its_time_limit_is_over(place: Place, engine: Engine) -> None:
    """Also one that has only just been made, or does not end when it is asked to."""
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    sandbox, view = engine.sandbox, place.view()
    for seconds in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 1, 2):
        command = sandbox.command([sys.executable, "-c", script], view)
        run = run_command(
            command,
            cwd=view.writable,
            environment=sandbox.environment(view),
            seconds=seconds,
            drain_seconds=sandbox.drain_seconds,
        )
        assert run.ended == "timeout"
        assert not containers(engine, place.workspace)
        assert not processes_of(command[command.index("--name") + 1])


def skip_without_groups(run: Completed) -> None:
    """Skip a test of limits where the engine says that it sets none: an ordinary user's Podman."""
    if "limits are not supported" in run.stderr:
        pytest.skip(run.stderr)


def test_its_memory_is_counted_together(attack: Attack) -> None:
    """Of two processes that have 60 % of it each, one is killed; one alone is not."""
    script = """
reading, writing = os.pipe()
first = os.fork() if len(sys.argv) > 1 else None
if first:
    os.close(writing)
    os.read(reading, 1)
held = b"1" * int(0.6 * 256 * 2**20)
if first == 0:
    os.close(reading)
    os.write(writing, b"1")
    import time
    time.sleep(20)
elif first:
    print(os.waitpid(first, os.WNOHANG)[1])
else:
    print("alone")
"""
    assert attack("container", script, memory_gb=0.25).stdout == "alone\n"
    run = attack("container", script, "and another", memory_gb=0.25)
    skip_without_groups(run)
    assert run.stdout == f"{signal.SIGKILL}\n" or "SIGKILL" in run.describe_end(), run


def test_folders_in_memory_count_as_its_memory(attack: Attack) -> None:
    script = """
for folder in sys.argv[1:]:
    with open(f"{folder}/big", "wb") as file:
        for _ in range(400):
            file.write(bytes(1_000_000))
print("all of it")
"""
    for folder in ("/tmp", "/dev/shm", "/run", "/var/tmp", "/dev"):
        run = attack("container", script, folder, memory_gb=0.25)
        skip_without_groups(run)
        assert "all of it" not in run.stdout, folder
        assert run.exit_code != 0


def test_it_has_a_name_and_namespaces_of_its_own(attack: Attack) -> None:
    script = """
import socket
print(socket.gethostname(), os.environ["USER"], [name for _, name in socket.if_nameindex()])
for kind in ("pid", "ipc", "uts", "net", "mnt"):
    print(os.readlink(f"/proc/self/ns/{kind}"))
"""
    first, *namespaces = attack("container", script).stdout.splitlines()
    assert first == "mlab agent ['lo']"
    assert len(namespaces) == 5
    for line in namespaces:
        assert line != str(Path(f"/proc/self/ns/{line.partition(':')[0]}").readlink())


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's has no address of this machine")
def test_with_the_network_it_reaches_other_machines_but_not_our_loopback(attack: Attack) -> None:
    """Our own machine is one of the others: the engine's network ends at it."""
    script = """
import socket
routes = [line.split() for line in open("/proc/net/route")]
gateways = [bytes.fromhex(route[2])[::-1] for route in routes if route[1] == "00000000"]
for address in (*map(socket.inet_ntoa, gateways), "127.0.0.1"):
    try:
        socket.create_connection((address, int(sys.argv[1])), 5)
        print("connected")
    except ConnectionRefusedError:
        print("refused")
"""
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        assert attack("container", script, port, network=True).stdout == "connected\nrefused\n"
        assert attack("container", script, port).stdout == "refused\n"


@pytest.mark.parametrize("image", ["localhost/no-such:1", "-"])
def test_an_image_that_does_not_work_keeps_the_session_from_starting(
    project: Project, options: tuple[str, ...], image: str
) -> None:
    said = project.refuse(*options[:-1], f"--mlab-image={image}", "--mlab-agent=solution")
    assert f"image {image}: " in said
    assert not project.sessions


def test_a_tasks_image_that_does_not_work_is_no_fault_of_an_agents(
    project: Project, options: tuple[str, ...]
) -> None:
    project.task("cut", resources={"image": "localhost/no-such:1"})
    run = project.run(*options[:-1], "--mlab-agent=solution")
    run.assert_outcomes(errors=1)
    assert project.statuses() == {"cut": "infra-error"}
    assert "image localhost/no-such:1: " in run.stdout.str()


def test_a_killed_harness_takes_its_container_with_it(engine: Engine, place: Place) -> None:
    sandbox = engine.sandbox
    command = sandbox.command([sys.executable, "-c", "import time; time.sleep(60)"], place.view())
    harness = subprocess.Popen(command, start_new_session=True)
    try:
        assert wait_until(lambda: bool(containers(engine, place.workspace)), 20)
    finally:
        harness.kill()
        harness.wait()
    assert wait_until(lambda: not containers(engine, place.workspace), 20)
