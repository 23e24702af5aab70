"""What an agent might try. Each attack succeeds with no sandbox: it fails because of the wall."""

import ctypes
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_mlab.process import run_command
from pytest_mlab.quota import Quota
from pytest_mlab.repl import Repl
from pytest_mlab.sandbox import View, bubblewrap, cgroup
from pytest_mlab.sandbox.limits import count_running_threads
from tests.processes import wait_until
from tests.sandbox.conftest import CONTAINER, SECRET, Attack, Place, get_sandbox, grows

walls = pytest.mark.parametrize(
    ("kind", "holds"),
    [
        ("none", False),
        ("bwrap", True),
        ("landlock", True),
        pytest.param(*CONTAINER.values, True, marks=CONTAINER.marks),
    ],
)
limits = pytest.mark.parametrize("kind", ["none", "bwrap", "landlock", CONTAINER])
confined = pytest.mark.parametrize("kind", ["bwrap", "landlock", CONTAINER])

root_only_if_open = pytest.mark.skipif(
    os.geteuid() != 0, reason="the kernel itself may keep users from doing this to their processes"
)

FOUND = "found"

READ = "look(open(sys.argv[1]).read())"


# Reading ------------------------------------------------------------------------------------------


@walls
def test_read_hidden_labels_by_their_path(
    attack: Attack, place: Place, kind: str, holds: bool
) -> None:
    assert (FOUND not in attack(kind, READ, place.secret).stdout) is holds


@walls
@pytest.mark.parametrize("path", ["../../data/private/labels.csv", "data/../private/labels.csv"])
def test_read_hidden_labels_by_a_relative_path(
    attack: Attack, path: str, kind: str, holds: bool
) -> None:
    assert (FOUND not in attack(kind, READ, path).stdout) is holds


@walls
def test_read_hidden_labels_through_a_symbolic_link(
    attack: Attack, place: Place, kind: str, holds: bool
) -> None:
    script = f"os.symlink(sys.argv[1], 'link')\n{READ.replace('sys.argv[1]', repr('link'))}"
    assert (FOUND not in attack(kind, script, place.secret).stdout) is holds


@walls
def test_read_hidden_labels_through_a_hard_link(
    attack: Attack, place: Place, kind: str, holds: bool
) -> None:
    script = f"os.link(sys.argv[1], 'link')\n{READ.replace('sys.argv[1]', repr('link'))}"
    assert (FOUND not in attack(kind, script, place.secret).stdout) is holds


@walls
def test_find_hidden_labels_by_walking_all_folders(
    attack: Attack, place: Place, kind: str, holds: bool
) -> None:
    script = """
skipped = {"usr", "dev", "proc", "sys", *map(os.path.basename, (sys.prefix, sys.base_prefix))}
for start in sys.argv[1:]:
    for folder, folders, files in os.walk(start):
        folders[:] = set(folders) - skipped
        for name in files:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path):
                    look(open(path, "rb").read())
            except OSError:
                pass
"""
    # With nothing in the way, the machine's whole disk would take too long.
    starts = [place.root] if kind == "none" else ["/", place.root, place.root.parent]
    run = attack(kind, script, *starts, seconds=60)
    assert (run.exit_code, FOUND not in run.stdout) == (0, holds)


@walls
def test_read_hidden_labels_through_another_process(
    attack: Attack, place: Place, victim: subprocess.Popen[bytes], kind: str, holds: bool
) -> None:
    script = """
for pid in {*filter(str.isdigit, os.listdir("/proc")), sys.argv[1], "1", "self"}:
    for door in ("root", "cwd", "cwd/../../../../../../../../../.."):
        try:
            look(open(f"/proc/{pid}/{door}{sys.argv[2]}").read())
        except OSError:
            pass
"""
    run = attack(kind, script, victim.pid, place.secret)
    assert (FOUND not in run.stdout) is holds


@walls
def test_read_keys_out_of_the_environment_of_other_processes(
    attack: Attack, victim: subprocess.Popen[bytes], kind: str, holds: bool
) -> None:
    script = """
for pid in {*filter(str.isdigit, os.listdir("/proc")), sys.argv[1]}:
    try:
        look(open(f"/proc/{pid}/environ", "rb").read())
    except OSError:
        pass
"""
    assert (FOUND not in attack(kind, script, victim.pid).stdout) is holds


@walls
@root_only_if_open
def test_read_keys_out_of_the_memory_of_the_harness(
    attack: Attack, victim: subprocess.Popen[bytes], kind: str, holds: bool
) -> None:
    script = """
with open(f"/proc/{sys.argv[1]}/maps") as maps, open(f"/proc/{sys.argv[1]}/mem", "rb") as memory:
    for line in maps:
        if "rw" in line and ("heap" in line or line.split()[4] == "0"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            memory.seek(start)
            try:
                look(memory.read(end - start))
            except OSError:
                pass
"""
    run = attack(kind, script, victim.pid)
    assert (FOUND not in run.stdout) is holds


@walls
@root_only_if_open
def test_trace_the_harness(
    attack: Attack, victim: subprocess.Popen[bytes], kind: str, holds: bool
) -> None:
    """By ``ptrace``, which lets go of it again when the tracer ends."""
    script = """
import ctypes
seize = 0x4206
if ctypes.CDLL(None).ptrace(seize, int(sys.argv[1]), None, None) == 0:
    print("seized")
"""
    run = attack(kind, script, victim.pid)
    assert run.exit_code == 0, run.stderr
    assert ("seized" not in run.stdout) is holds


@walls
@root_only_if_open
def test_read_the_memory_of_the_harness_by_a_system_call(
    attack: Attack, victim: subprocess.Popen[bytes], kind: str, holds: bool
) -> None:
    """What of it can be read starts where its main program does, with the mark of such files."""
    start = int(Path(f"/proc/{victim.pid}/maps").read_text().split("-")[0], 16)
    script = """
import ctypes
class Piece(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(4)
near, far = Piece(ctypes.addressof(buffer), 4), Piece(int(sys.argv[2]), 4)
ctypes.CDLL(None).process_vm_readv(
    int(sys.argv[1]), ctypes.byref(near), 1, ctypes.byref(far), 1, ctypes.c_ulong(0)
)
print("read" if buffer.raw == b"\\x7fELF" else "nothing")
"""
    run = attack(kind, script, victim.pid, start)
    assert run.exit_code == 0, run.stderr
    assert (run.stdout == "nothing\n") is holds


ADD_KEY, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(platform.machine(), (0, 0))
SESSION_KEYRING, UNLINK, SEARCH, READ_KEY = -3, 9, 10, 11


@pytest.fixture
def key() -> Iterator[str]:
    """Put a secret into the kernel's keyring of this session."""
    libc = ctypes.CDLL(None, use_errno=True)
    name = f"mlab-test-{os.getpid()}"
    secret = SECRET.encode()
    number = libc.syscall(ADD_KEY, b"user", name.encode(), secret, len(secret), SESSION_KEYRING)
    if number < 0:
        pytest.skip("this machine's kernel keeps no keys for us")
    yield name
    libc.syscall(KEYCTL, UNLINK, number, SESSION_KEYRING)


@walls
def test_read_keys_out_of_the_kernels_keyring(
    attack: Attack, key: str, kind: str, holds: bool
) -> None:
    script = f"""
import ctypes
libc, buffer = ctypes.CDLL(None), ctypes.create_string_buffer(100)
number = libc.syscall({KEYCTL}, {SEARCH}, {SESSION_KEYRING}, b"user", sys.argv[1].encode(), 0)
libc.syscall({KEYCTL}, {READ_KEY}, number, buffer, 100)
look(buffer.raw)
"""
    run = attack(kind, script, key)
    assert (run.exit_code, FOUND not in run.stdout) == (0, holds), run.stderr


@limits
def test_there_are_no_keys_in_the_environment(
    attack: Attack, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, SECRET)
    run = attack(kind, "look(str(os.environ)); look(open('/proc/self/environ', 'rb').read())")
    assert run.exit_code == 0
    assert FOUND not in run.stdout


@limits
def test_no_open_file_of_the_harness_is_inherited(attack: Attack, place: Place, kind: str) -> None:
    descriptor = os.open(place.secret, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    script = """
for number in range(3, 256):
    try:
        look(os.pread(number, 100, 0))
    except OSError:
        pass
"""
    try:
        assert FOUND not in attack(kind, script).stdout
    finally:
        os.close(descriptor)


@confined
def test_the_home_folder_is_not_seen(attack: Attack, kind: str) -> None:
    names = [path.name for path in Path.home().iterdir() if path.is_file()]
    script = """
for name in sys.argv[1:]:
    try:
        print("read", open(name).read(1))
    except OSError:
        pass
"""
    assert "read" not in attack(kind, script, *(Path.home() / name for name in names)).stdout


@walls
def test_the_folders_for_scratch_files_are_its_own(
    attack: Attack, place: Place, kind: str, holds: bool
) -> None:
    ours = [Path(folder, f"mlab-test-{os.getpid()}-ours") for folder in ("/tmp", "/dev/shm")]
    theirs = [path.with_name(f"mlab-test-{os.getpid()}-theirs") for path in ours]
    script = """
for path in sys.argv[1:3]:
    try:
        print(open(path).read())
    except OSError:
        print("nothing")
for path in sys.argv[3:]:
    try:
        open(path, "w").close()
    except OSError:
        pass
"""
    for path in ours:
        path.write_text(SECRET)
    try:
        run = attack(kind, script, *ours, *theirs)
        assert run.exit_code == 0, run.stderr
        assert run.stdout.split() == ["nothing" if holds else SECRET] * 2
        assert [path.exists() for path in theirs] == [not holds] * 2
    finally:
        for path in (*ours, *theirs):
            path.unlink(missing_ok=True)


@walls
def test_read_the_solutions_of_the_installed_tasks(
    attack: Attack, place: Place, monkeypatch: pytest.MonkeyPatch, kind: str, holds: bool
) -> None:
    package = place.public / "pytest_mlab"
    solution = package / "tasks" / "digits" / "solution" / "train.py"
    solution.parent.mkdir(parents=True)
    solution.write_text(SECRET)
    monkeypatch.setattr(
        "pytest_mlab.sandbox.interpreter._installed", lambda: (package, package / "tasks")
    )
    assert (FOUND not in attack(kind, READ, solution).stdout) is holds


@walls
@pytest.mark.parametrize("door", ["lib", "lib64"])
def test_read_installed_data_that_hold_the_answers(
    place: Place, door: str, kind: str, holds: bool
) -> None:
    """Also by a second name of the folder that they lie in, as virtual environments have one."""
    venv = place.root / "venv"
    labels = venv / "lib" / "package" / "labels.csv"
    labels.parent.mkdir(parents=True)
    labels.write_text(SECRET)
    (venv / "lib64").symlink_to("lib")
    sandbox = get_sandbox(kind)

    def read(*concealed: Path) -> str:
        readable = (venv / "lib", venv / "lib64")
        view = View(writable=place.workspace, readable=readable, concealed=concealed)
        return run_command(
            sandbox.command(["/bin/cat", str(venv / door / "package" / "labels.csv")], view),
            cwd=view.writable,
            environment=sandbox.environment(view),
            seconds=30,
        ).stdout

    assert read() == SECRET
    assert (read(labels) != SECRET) is holds
    assert (read(labels.parent) != SECRET) is holds


@confined
def test_a_scorer_sees_its_own_file_of_an_installed_task_and_nothing_else_there(
    place: Place, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    package = place.root / "site-packages" / "pytest_mlab"
    task = package / "tasks" / "digits"
    (task / "solution").mkdir(parents=True)
    for path in (package / "submission.py", task / "score.py", task / "solution" / "train.py"):
        path.write_text(path.name)
    monkeypatch.setattr(
        "pytest_mlab.sandbox.interpreter._installed", lambda: (package, package / "tasks")
    )
    sandbox = get_sandbox(kind)
    view = View(writable=place.workspace, readable=(package, task / "score.py"))
    paths = (package / "submission.py", task / "score.py", task / "solution" / "train.py")
    run = run_command(
        sandbox.command(["/bin/cat", *map(str, paths)], view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=20,
    )
    assert run.stdout == "submission.pyscore.py"


# Writing ------------------------------------------------------------------------------------------


@walls
@pytest.mark.parametrize("name", ["../outside", "../../outside", "ABSOLUTE", "link/outside"])
def test_write_outside_the_workspace(
    attack: Attack, place: Place, name: str, kind: str, holds: bool
) -> None:
    script = """
os.symlink(os.path.dirname(sys.argv[2]), "link")
open(sys.argv[1].replace("ABSOLUTE", sys.argv[2]), "w").write("written")
"""
    attack(kind, script, name, place.root / "outside")
    assert (not list(place.root.rglob("outside"))) is holds


@walls
@pytest.mark.parametrize(
    "deed",
    [
        "open(path, 'w').write('changed')",
        "open(path, 'r+').write('changed')",
        "os.truncate(path, 0)",
        "open('mine', 'w').close(); os.replace('mine', os.path.realpath(path))",
        "os.unlink(os.path.realpath(path))",
        "os.chmod(path, 0o777); open(path, 'w').write('changed')",
    ],
)
def test_overwrite_public_data_under_whatever_spelling(
    attack: Attack, place: Place, deed: str, kind: str, holds: bool
) -> None:
    files = [place.public / f"{number}.csv" for number in range(5)]
    for file in files:
        file.write_text("public")
    os.link(files[4], place.public / "hard")
    script = f"""
os.symlink(sys.argv[1] + "/3.csv", "link")
for path in ("data/0.csv", "data/../public/1.csv", sys.argv[1] + "/2.csv", "link", "data/hard"):
    try:
        {deed}
    except OSError:
        pass
"""
    run = attack(kind, script, place.public)
    assert run.exit_code == 0, run.stderr
    unchanged = [file.exists() and file.read_text() == "public" for file in files]
    # To replace or to unlink one of two hard links leaves the other.
    assert unchanged[:4] == [holds] * 4
    assert (place.public / "hard").exists() or not holds
    assert unchanged[4] or not holds


@confined
def test_replace_the_interpreter_and_its_packages(attack: Attack, kind: str) -> None:
    script = """
import sysconfig
for folder in (*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, "/usr", "/etc", "/"):
    try:
        os.makedirs(folder, exist_ok=True)
        open(os.path.join(folder, "sitecustomize.py"), "w").write("")
        print(folder)
    except OSError:
        pass
for path in (sys.executable, os.path.realpath(sys.executable), os.__file__):
    try:
        open(path, "r+")
        sys.exit("opened " + path)
    except OSError:
        pass
"""
    run = attack(kind, script)
    assert (run.exit_code, run.stderr) == (0, "")
    # An environment below /tmp has folders around it that are the sandbox's own.
    written = [Path(folder, "sitecustomize.py") for folder in run.stdout.splitlines()]
    assert not [file for file in written if file.exists()]


@walls
@root_only_if_open
def test_change_the_kernels_settings(attack: Attack, kind: str, holds: bool) -> None:
    # Opened only: with no sandbox, root could write there.
    script = "open('/proc/sys/kernel/core_pattern', 'r+'); print('opened')"
    assert ("opened" not in attack(kind, script).stdout) is holds


@confined
def test_root_has_no_powers(attack: Attack, kind: str) -> None:
    script = """
import time
for deed in (
    lambda: os.chroot("."),
    lambda: os.mknod("device", 0o60600, os.makedev(254, 0)),
    lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
    lambda: os.setresuid(1, 1, 1),
    lambda: os.chown("file", 1, 1),
):
    open("file", "w").close()
    try:
        deed()
        print("done")
    except OSError:
        pass
"""
    run = attack(kind, script)
    assert (run.exit_code, run.stdout) == (0, "")


@pytest.mark.parametrize("kind", ["bwrap", CONTAINER])
def test_what_lies_outside_cannot_even_be_guessed_at(
    attack: Attack, place: Place, kind: str
) -> None:
    script = "print([os.path.lexists(path) for path in sys.argv[1:]])"
    paths = (place.secret, place.private, Path.home() / ".ssh", "/boot", "/etc/shadow")
    assert attack(kind, script, *paths).stdout == f"{[False] * len(paths)}\n"


@pytest.mark.parametrize("kind", ["bwrap", CONTAINER])
def test_change_the_mode_and_times_of_public_data(attack: Attack, place: Place, kind: str) -> None:
    """In landlock it can: Landlock does not look at them."""
    public = place.public / "train.csv"
    before = public.stat()
    script = """
for deed in (lambda path: os.chmod(path, 0), lambda path: os.utime(path, (1, 1))):
    try:
        deed(sys.argv[1])
    except OSError:
        pass
"""
    run = attack(kind, script, public)
    assert run.exit_code == 0
    assert public.stat() == before


# Other processes ----------------------------------------------------------------------------------


@walls
def test_kill_the_harness(
    attack: Attack, victim: subprocess.Popen[bytes], kind: str, holds: bool
) -> None:
    attack(kind, "import signal; os.kill(int(sys.argv[1]), signal.SIGKILL)", victim.pid)
    with suppress(subprocess.TimeoutExpired):
        victim.wait(0.3)
    assert (victim.poll() is None) is holds


@confined
def test_no_other_process_is_seen(
    attack: Attack, victim: subprocess.Popen[bytes], kind: str
) -> None:
    script = """
try:
    print(*(name for name in os.listdir("/proc") if name.isdigit()))
except PermissionError:
    pass
"""
    run = attack(kind, script)
    assert run.exit_code == 0
    assert str(victim.pid) not in run.stdout.split()
    assert len(run.stdout.split()) <= 3


DAEMON = """
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (0, 1, 2):
            os.close(number)
        with open("beats", "ab", buffering=0) as beats:
            beats.write(b"%20d" % os.getpid())
            for _ in range(1000):
                beats.write(b".")
                time.sleep(0.02)
    os._exit(0)
while not os.path.exists("beats") or os.path.getsize("beats") < 25:
    time.sleep(0.01)
"""


@walls
def test_leave_a_daemon_behind(attack: Attack, place: Place, kind: str, holds: bool) -> None:
    run = attack(kind, DAEMON)
    beats = place.workspace / "beats"
    try:
        assert run.exit_code == 0, run.stderr
        assert (not grows(beats)) is holds
    finally:
        if not holds:
            os.kill(int(beats.read_bytes()[:20]), signal.SIGKILL)


@walls
def test_outlive_a_time_limit(attack: Attack, place: Place, kind: str, holds: bool) -> None:
    run = attack(kind, f"{DAEMON}\ntime.sleep(60)", seconds=10 if kind == "container" else 2)
    beats = place.workspace / "beats"
    try:
        assert run.ended == "timeout"
        assert run.seconds < (20 if kind == "container" else 3)
        assert (not grows(beats)) is holds
    finally:
        if not holds:
            os.kill(int(beats.read_bytes()[:20]), signal.SIGKILL)


@walls
def test_outlive_a_repl(place: Place, kind: str, holds: bool) -> None:
    daemon = f"import os\n{DAEMON}"
    beats = place.workspace / "beats"
    with Repl(get_sandbox(kind), place.view()) as repl:
        assert repl.run(daemon, 20).ok
        assert grows(beats)
    try:
        assert (not grows(beats)) is holds
    finally:
        if not holds:
            os.kill(int(beats.read_bytes()[:20]), signal.SIGKILL)


@walls
def test_outlive_a_harness_that_was_killed(place: Place, kind: str, holds: bool) -> None:
    sandbox, view = get_sandbox(kind), place.view()
    argv = [sys.executable, "-c", f"import os\n{DAEMON}\ntime.sleep(60)"]
    command = sandbox.command(argv, view)
    harness = textwrap.dedent(f"""
        from pathlib import Path
        from pytest_mlab.process import run_command
        run_command({command!r}, cwd=Path({str(view.writable)!r}),
                    environment={sandbox.environment(view)!r}, seconds=60)
    """)
    process = subprocess.Popen([sys.executable, "-c", harness])
    beats = place.workspace / "beats"
    deadline = time.monotonic() + 20
    while not (beats.exists() and beats.stat().st_size > 30) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    try:
        time.sleep(0.5)
        # An engine takes its time.
        assert wait_until(lambda: not grows(beats), 10 if kind == "container" else 0) is holds
    finally:
        if not holds:
            leader = subprocess.run(
                ["pgrep", "-f", str(view.writable)], capture_output=True, text=True, check=False
            )
            for pid in (beats.read_bytes()[:20].decode(), *leader.stdout.split()):
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)


# Using up the machine -----------------------------------------------------------------------------


@limits
def test_multiply_without_end(
    place: Place, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, kind: str
) -> None:
    """An ordinary user is held to a number of processes by a limit, here also where root runs us.

    Root is held by control groups: a container's engine sees to its own, for the others see
    `tests.sandbox.test_cgroup`.
    """
    sandbox, view = get_sandbox(kind), place.view(processes=40)
    drop: list[str] = []
    if os.geteuid() == 0 and kind != "container":
        monkeypatch.setattr(cgroup, "find_parent", lambda: None)
        if kind == "landlock":
            pytest.skip("an ordinary user may not be able to run root's Python")
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        # That user cannot see root's Python, nor this package, nor what root has open.
        readable = Path("/tmp") / f"mlab-etc-{os.getpid()}"
        shutil.copytree(bubblewrap._ETC, readable, dirs_exist_ok=True)
        request.addfinalizer(lambda: shutil.rmtree(readable))
        monkeypatch.setattr(bubblewrap, "_ETC", readable)
        monkeypatch.setattr(bubblewrap, "_system_mounts", bubblewrap._system_mounts.__wrapped__)
        monkeypatch.setattr(bubblewrap, "_interpreter_mounts", dict)
        monkeypatch.setattr(bubblewrap, "_filter_file", lambda: None)
        view = View(writable=Path("/tmp"), processes=40)
    wanted = count_running_threads() + 150
    script = f"""
ulimit -a
i=0
while [ $i -lt {wanted} ]; do sleep 5 & i=$((i+1)); done
echo all of them
"""
    run = run_command(
        [*drop, *sandbox.command(["/bin/sh", "-c", script], view)],
        cwd=Path("/"),
        environment=sandbox.environment(view),
        seconds=30,
    )
    assert run.stdout.startswith("time"), run
    assert "all of them" not in run.stdout
    assert "fork" in run.stderr


@limits
def test_ask_for_too_much_memory(attack: Attack, kind: str) -> None:
    script = "bytearray(600_000_000); print('got it')"
    assert "got it" in attack(kind, script, memory_gb=1.0).stdout
    run = attack(kind, script, memory_gb=0.5)
    assert "got it" not in run.stdout
    assert "MemoryError" in run.stderr
    run = attack(kind, "bytearray(100 * 2**30)")
    assert "MemoryError" in run.stderr


@limits
def test_reserving_memory_without_writing_to_it_is_no_offence(attack: Attack, kind: str) -> None:
    script = """
import mmap
without_reserve = 0x4000
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | without_reserve
mmap.mmap(-1, 2**36, flags=flags, prot=mmap.PROT_READ)
print("reserved")
"""
    assert "reserved" in attack(kind, script, memory_gb=0.5).stdout


@limits
def test_write_too_large_a_file(attack: Attack, place: Place, kind: str) -> None:
    run = attack(kind, "open('big', 'wb').write(bytes(3_000_000))", file_gb=0.001)
    assert "File too large" in run.stderr
    assert (place.workspace / "big").stat().st_size <= 0.001 * 2**30
    assert attack(kind, "open('big', 'wb').write(bytes(3_000_000))", file_gb=1).exit_code == 0


@limits
def test_fill_the_disk_with_many_files(place: Place, kind: str) -> None:
    script = """
import time
for number in range(400):
    open(f"{number}", "wb").write(bytes(1_000_000))
    time.sleep(0.01)
print("all of them")
"""
    sandbox, view = get_sandbox(kind), place.view()
    run = run_command(
        sandbox.command([sys.executable, "-c", script], view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=60,
        quota=Quota(view.writable, 0.05, 10_000),
        drain_seconds=sandbox.drain_seconds,
    )
    assert (run.ended, run.stdout) == ("quota", "")
    written = set(view.writable.iterdir())
    time.sleep(0.3)
    assert set(view.writable.iterdir()) == written


def test_fill_the_folders_that_lie_in_memory(attack: Attack) -> None:
    script = """
for folder in ("/tmp", "/dev/shm", "/dev", "/run", "/", "/var"):
    written = 0
    try:
        with open(f"{folder}/big", "wb") as file:
            while written < 200:
                file.write(bytes(1_000_000))
                written += 1
    except OSError:
        pass
    print(folder, written)
"""
    run = attack("bwrap", script, memory_gb=0.1)
    most = {line.split()[0]: int(line.split()[1]) for line in run.stdout.splitlines()}
    assert most.pop("/tmp") in range(90, 120)
    assert most.pop("/dev/shm") in range(90, 120)
    assert most == {"/dev": 0, "/run": 0, "/": 0, "/var": 0}


@limits
def test_open_too_many_files(attack: Attack, kind: str) -> None:
    run = attack(kind, "files = [open('data/train.csv') for _ in range(200)]", open_files=100)
    assert "Too many open files" in run.stderr


@limits
def test_print_without_end(place: Place, kind: str) -> None:
    sandbox, view = get_sandbox(kind), place.view()
    run = run_command(
        sandbox.command(["yes"], view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=30,
        max_bytes=5_000_000,
    )
    assert run.ended == "output-limit"
    assert len(run.stdout) < 30_000


@limits
def test_crash_leaves_no_core_file(attack: Attack, place: Place, kind: str) -> None:
    run = attack(kind, "import ctypes; ctypes.string_at(0)")
    assert run.exit_code != 0
    assert sorted(path.name for path in place.workspace.iterdir()) == ["data"]


# The network --------------------------------------------------------------------------------------


@pytest.fixture
def port() -> Iterator[int]:
    """Give a port of the harness at which someone answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        over = threading.Event()

        def answer() -> None:
            while not over.is_set():
                with suppress(TimeoutError):
                    connection, _ = server.accept()
                    connection.sendall(SECRET.encode())
                    connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        over.set()
        thread.join()


CONNECT = """
import socket
look(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).recv(100))
"""


@walls
def test_connect_to_a_port_of_the_harness(
    attack: Attack, port: int, kind: str, holds: bool
) -> None:
    assert (FOUND not in attack(kind, CONNECT, port).stdout) is holds


@pytest.mark.parametrize("kind", ["none", "bwrap", "landlock"])
def test_a_task_that_asks_for_the_network_has_it(attack: Attack, port: int, kind: str) -> None:
    """In a container it is the engine's network, without this machine's loopback."""
    assert FOUND in attack(kind, CONNECT, port, network=True).stdout


@walls
def test_connect_to_an_abstract_socket_of_the_harness(
    attack: Attack, kind: str, holds: bool
) -> None:
    name = f"\0mlab-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        script = "import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + sys.argv[1])"
        run = attack(kind, f"{script}; print('connected')", name[1:])
    assert ("connected" not in run.stdout) is holds


@walls
def test_connect_to_a_socket_that_is_a_file(
    attack: Attack, place: Place, kind: str, holds: bool
) -> None:
    """A container engine or a session's bus that listens there runs programs for whoever asks."""
    path = place.root / "bus"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        script = "import socket; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        run = attack(kind, f"{script}; print('connected')", path)
    assert ("connected" not in run.stdout) is holds


@walls
def test_use_the_shared_memory_of_other_processes(attack: Attack, kind: str, holds: bool) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    create, remove, name = 0o1600, 0, 0x6D6C6162
    ours = libc.shmget(name, 4096, create)
    assert ours >= 0
    try:
        script = "import ctypes; print(ctypes.CDLL(None).shmget(int(sys.argv[1]), 4096, 0) >= 0)"
        run = attack(kind, script, name)
    finally:
        libc.shmctl(ours, remove, None)
    assert run.stdout == f"{not holds}\n"


@walls
def test_send_a_datagram_to_the_harness(attack: Attack, kind: str, holds: bool) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.5)
        script = """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.sendto(b"here", ("127.0.0.1", int(sys.argv[1])))
"""
        attack(kind, script, server.getsockname()[1])
        received = b""
        with suppress(TimeoutError):
            received = server.recv(100)
    assert (received == b"") is holds
