"""What a confined command can do: everything that an experiment needs."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pytest_mlab.process import run_command
from pytest_mlab.repl import Repl
from pytest_mlab.sandbox import View
from tests.sandbox.conftest import CONTAINER, SECRET, Attack, Place, get_sandbox

everywhere = pytest.mark.parametrize("kind", ["none", "bwrap", "landlock", CONTAINER])
with_our_python = pytest.mark.parametrize("kind", ["none", "bwrap", "landlock"])


@everywhere
def test_it_works_in_its_workspace_and_reads_the_public_data(
    attack: Attack, place: Place, kind: str
) -> None:
    script = """
assert os.getcwd() == sys.argv[1]
os.mkdir("models")
open("models/weights", "w").write(open("data/train.csv").read())
os.rename("models/weights", "models/best")
os.symlink("best", "models/link")
"""
    run = attack(kind, script, place.workspace)
    assert run.exit_code == 0, run.stderr
    assert (place.workspace / "models" / "link").read_text() == "public"


@with_our_python
def test_it_has_our_python_and_its_packages(attack: Attack, kind: str) -> None:
    script = "import numpy, sqlite3, ssl, pytest; print(sys.version, sys.prefix)"
    run = attack(kind, script)
    assert run.stdout == f"{sys.version} {sys.prefix}\n", run.stderr


@everywhere
def test_what_libraries_ask_of_a_system_is_there(attack: Attack, kind: str) -> None:
    script = """
import asyncio, getpass, locale, pathlib, random, socket, subprocess, tempfile, time, uuid
getpass.getuser(), socket.gethostname(), os.cpu_count(), uuid.uuid4(), time.localtime()
assert locale.getpreferredencoding() == "utf-8"
os.rmdir(tempfile.mkdtemp(dir=pathlib.Path.home()))
with tempfile.NamedTemporaryFile() as file:
    file.write(b"scratch")
assert subprocess.run("echo $((1 + 1)) | cat", shell=True, capture_output=True).stdout == b"2\\n"
open("/dev/null", "w").write("gone")
asyncio.run(asyncio.sleep(0))
assert len(open("/dev/urandom", "rb").read(8)) == 8
"""
    run = attack(kind, script)
    assert (run.exit_code, run.stderr) == (0, "")


@pytest.mark.parametrize("kind", ["none", "bwrap", CONTAINER])
def test_processes_can_work_together(attack: Attack, kind: str) -> None:
    script = """
import multiprocessing
from multiprocessing.shared_memory import SharedMemory
memory = SharedMemory(create=True, size=8)
memory.close()
memory.unlink()
with multiprocessing.Pool(2) as pool:
    print(pool.map(abs, [1, -2]))
"""
    run = attack(kind, script)
    assert run.stdout == "[1, 2]\n", run.stderr


@pytest.mark.parametrize("kind", ["none", "bwrap", CONTAINER])
def test_it_can_talk_to_itself_over_loopback(attack: Attack, kind: str) -> None:
    script = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    client = socket.create_connection(server.getsockname(), 5)
    connection, _ = server.accept()
    connection.sendall(b"heard")
    print(client.recv(10))
"""
    assert attack(kind, script).stdout == "b'heard'\n"


@everywhere
def test_variables_that_are_given_arrive_and_others_do_not(
    attack: Attack, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("LD_PRELOAD", "")
    given = {"OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": ""}
    run = attack(kind, "print(*sorted(os.environ))", environment=given)
    allowed = {
        *("HOME", "LANG", "LC_CTYPE", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "TZ"),
        *("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "USER", "_"),
        *("PYTHONDONTWRITEBYTECODE", "PYTHONNOUSERSITE", "PYTHONUNBUFFERED"),
        *("PYTHONUSERBASE", "PYTHONUTF8"),
    }
    if kind == "container":
        allowed |= {"HOSTNAME", "TERM", "container"}  # from the engine
    assert run.exit_code == 0
    assert "OMP_NUM_THREADS" in run.stdout.split()
    assert set(run.stdout.split()) <= allowed


@everywhere
def test_a_package_that_is_shown_without_its_folder_can_be_imported(
    place: Place, kind: str
) -> None:
    package = place.private / "shown"
    package.mkdir()
    (package / "__init__.py").write_text("answer = 42")
    path = {"PYTHONPATH": str(package.parent)}
    sandbox = get_sandbox(kind)
    view = View(writable=place.workspace, readable=(package,), environment=path)
    run = run_command(
        sandbox.command([sys.executable, "-c", "import shown; print(shown.answer)"], view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=20,
    )
    assert run.stdout == "42\n", run.stderr


@everywhere
@pytest.mark.parametrize("code", [0, 1, 42])
def test_the_exit_code_is_the_commands(attack: Attack, kind: str, code: int) -> None:
    assert attack(kind, f"sys.exit({code})").exit_code == code


@everywhere
def test_a_death_by_a_signal_is_told_from_an_exit(attack: Attack, kind: str) -> None:
    run = attack(kind, "os.kill(os.getpid(), 9)")
    assert run.exit_code in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert "SIGKILL" in run.describe_end()


@everywhere
def test_output_comes_as_it_is_printed(place: Place, kind: str) -> None:
    sandbox, view = get_sandbox(kind), place.view()
    script = "import time; print('begun'); time.sleep(60)"
    run = run_command(
        sandbox.command([sys.executable, "-c", script], view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=10 if kind == "container" else 1,
        drain_seconds=sandbox.drain_seconds,
    )
    assert (run.ended, run.stdout) == ("timeout", "begun\n")


@everywhere
def test_standard_input_is_passed_on(place: Place, kind: str) -> None:
    sandbox, view = get_sandbox(kind), place.view()
    run = run_command(
        sandbox.command(["/bin/cat"], view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=20,
        stdin=b"told",
    )
    assert run.stdout == "told"


@everywhere
def test_a_repl_runs_in_it(place: Place, kind: str) -> None:
    with Repl(get_sandbox(kind), place.view()) as repl:
        assert repl.run("x = open('data/train.csv').read()", 20).text() == ""
        assert repl.run("x", 20).text() == "'public'\n"
        assert repl.run("import os; os._exit(3)", 20).exit_code == 3
        assert "NameError" in repl.run("x", 20).text()
        assert repl.run("while True: pass", 1).ended == "timeout"


@everywhere
@pytest.mark.parametrize("name", ["with space", "new\nline", "quote'\"s", "-dash", "ünï", "a,b"])
def test_any_name_will_do_for_a_workspace(place: Place, kind: str, name: str) -> None:
    sandbox = get_sandbox(kind)
    workspace = place.root / name
    workspace.mkdir()
    view = View(writable=workspace)
    run = run_command(
        sandbox.command(["/bin/sh", "-c", "echo here > file"], view),
        cwd=workspace,
        environment=sandbox.environment(view),
        seconds=20,
    )
    assert run.exit_code == 0, run.stderr
    assert (workspace / "file").read_text() == "here\n"


def test_it_has_a_name_and_namespaces_of_its_own(attack: Attack) -> None:
    script = """
import getpass, socket
print(socket.gethostname(), getpass.getuser(), os.getuid(), sorted(os.listdir("/")))
for kind in ("pid", "ipc", "uts", "net", "mnt", "user"):
    print(os.readlink(f"/proc/self/ns/{kind}"))
"""
    first, *namespaces = attack("bwrap", script).stdout.splitlines()
    assert first.startswith("mlab agent 1000 ")
    assert len(namespaces) == 6
    for line in namespaces:
        assert line != str(Path(f"/proc/self/ns/{line.partition(':')[0]}").readlink())


def test_nothing_is_left_of_the_environment_that_lies_in_a_project_but_the_environment(
    tmp_path: Path,
) -> None:
    """A ``python -m venv .`` makes a folder with everything in it the prefix of its Python."""
    get_sandbox("bwrap")
    project = tmp_path.resolve() / "project"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", project], check=True)
    (project / ".env").write_text(SECRET)
    workspace = tmp_path.resolve() / "workspace"
    workspace.mkdir()
    script = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        sys.path[:0] = {sys.path!r}
        from pytest_mlab.process import run_command
        from pytest_mlab.sandbox import View, find_sandbox
        sandbox, view = find_sandbox("bwrap"), View(writable=Path({str(workspace)!r}))
        script = "import sys, json; print(sys.prefix); print(open(sys.argv[1]).read())"
        run = run_command(
            sandbox.command([sys.executable, "-c", script, {str(project / ".env")!r}], view),
            cwd=view.writable, environment=sandbox.environment(view), seconds=20,
        )
        print(run.stdout, run.stderr)
    """)
    python = project / "bin" / "python"
    run = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.startswith(str(project))
    assert SECRET not in run.stdout
    assert "FileNotFoundError" in run.stdout


@with_our_python
def test_descriptors_can_be_passed_on(place: Place, kind: str) -> None:
    sandbox, view = get_sandbox(kind), place.view()
    reading, writing = os.pipe()
    run_command(
        sandbox.command([sys.executable, "-c", f"import os; os.write({writing}, b'told')"], view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=20,
        pass_fds=(writing,),
    )
    os.close(writing)
    with os.fdopen(reading) as channel:
        assert channel.read() == "told"
