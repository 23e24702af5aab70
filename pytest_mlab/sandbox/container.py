"""A container, by Docker, Podman or a program that takes their options."""

import csv
import io
import os
import resource
import shlex
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path

from pytest_mlab.exceptions import InfraError
from pytest_mlab.process import run_command
from pytest_mlab.sandbox.interpreter import hidden_paths
from pytest_mlab.sandbox.limits import COUNTS_APART
from pytest_mlab.sandbox.supervisor import supervise_command
from pytest_mlab.sandbox.view import View, allowed_environment

_ENGINES = ("docker", "podman")

# What belongs to this machine's Python and not to the image's.
_NOT_INSIDE = {"PATH", "LD_LIBRARY_PATH", "PYTHONUSERBASE"}

_TRIAL = """
import sys
open("made", "w")
if sys.version_info < (3, 11):
    sys.exit("its python3 is {}.{}".format(*sys.version_info))
"""
_SECONDS_TO_PULL = 1800


class Container:
    """Runs a command in a container of its own, from one image or from those the views name."""

    name = "container"
    inherits = False
    # The pipes stay open until the engine has removed the container, and nothing is left of it.
    drain_seconds = 30.0

    def __init__(self, *engine: str, image: str | None = None) -> None:
        self._engine = engine
        self._image = image
        self._tried: set[str] = set()

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line that runs `argv`; our own Python becomes the image's ``python3``.

        Raises `InfraError` where there is no image, or none that works: each is tried once.
        """
        image = self._image or view.image
        if image is None:
            raise InfraError(
                "the sandbox container needs an image; name one that has Python and the task's "
                "packages in it, with --mlab-image or in task.toml: [resources] image"
            )
        self.require(image)
        return self._line(argv, view, image)

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment of the engine's program; the command gets the view's."""
        return dict(os.environ)

    def require(self, image: str) -> None:
        """Let an image's Python write a file, once; the engine gets the image where it has none.

        Raises `InfraError` for what keeps it from that, which would look like a script's failure.
        """
        if image in self._tried:
            return
        with tempfile.TemporaryDirectory(prefix="mlab-") as name:
            view = View(writable=Path(name).resolve())
            run = run_command(
                self._line([sys.executable, "-c", _TRIAL], view, image),
                cwd=view.writable,
                environment=self.environment(view),
                seconds=_SECONDS_TO_PULL,
            )
        if run.exit_code != 0:
            # What an engine says before its last line is of its tries to fetch the image.
            reason = run.stderr.strip().rpartition("\n")[2] or run.describe_end()
            raise InfraError(
                f"the sandbox container does not work here ({shlex.join(self._engine)}, image "
                f"{image}: {reason}): name an engine with --mlab-sandbox='container:COMMAND LINE' "
                "and an image that it has, with Python 3.11 or newer as python3, with --mlab-image"
            )
        self._tried.add(image)

    def _line(self, argv: Sequence[str], view: View, image: str) -> list[str]:
        name = f"mlab-{uuid.uuid4().hex}"
        program = "python3" if argv[0] == sys.executable else argv[0]
        run = [
            *(*self._engine, "run", "--name", name, *self._options(view)),
            *("--entrypoint", program, image, *argv[1:]),
        ]
        remove = [*self._engine, "rm", "--force", name]
        return supervise_command("container", {"remove": remove}, run)

    def _options(self, view: View) -> Iterator[str]:
        yield from ("--rm", "--interactive", "--init", "--quiet", "--log-driver", "none")
        # What is removed has had its time: it is not asked to end first.
        yield from ("--stop-timeout", "0")
        yield from ("--hostname", "mlab", "--workdir", str(view.writable))
        yield from ("--user", f"{os.geteuid()}:{os.getegid()}")
        if self._is_podman and os.geteuid() != 0:
            yield from ("--userns", "keep-id")
        yield from ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
        if not view.network:
            yield from ("--network", "none")
        yield from self._limits(view)
        yield from self._mounts(view)
        inside = {
            name: value
            for name, value in allowed_environment(view).items()
            if name not in _NOT_INSIDE
        }
        if view.gpus:
            devices = view.environment["CUDA_VISIBLE_DEVICES"].split(",")
            if self._is_podman:
                for device in devices:
                    yield from ("--device", f"nvidia.com/gpu={device}")
            else:
                yield from ("--gpus", f'"device={",".join(devices)}"')
            # The engine shows these devices only, and they are counted from 0 in there.
            inside["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(len(devices))))
        for name, value in inside.items():
            yield from ("--env", f"{name}={value}")

    def _limits(self, view: View) -> Iterator[str]:
        """Give the limits of all processes together and of each; none is above pytest's own."""
        memory = int(view.memory_gb * 2**30)
        yield from ("--memory", str(memory), "--memory-swap", str(memory))
        yield from ("--oom-score-adj", "1000", "--pids-limit", str(view.processes))
        each = {
            "core": (resource.RLIMIT_CORE, 0),
            # So a script is told that there is no more memory, before the kernel kills it.
            "data": (resource.RLIMIT_DATA, memory),
            "fsize": (resource.RLIMIT_FSIZE, int(view.file_gb * 2**30)),
            "nofile": (resource.RLIMIT_NOFILE, view.open_files),
        }
        for name, (kind, value) in each.items():
            _, hard = resource.getrlimit(kind)
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            yield from ("--ulimit", f"{name}={bound}")
        # Root is held to none, but Podman's own is more than a root without all powers may set. Of
        # others, the processes in Docker's containers would count with all that run outside.
        if os.geteuid() == 0 or (self._is_podman and COUNTS_APART):
            yield from ("--ulimit", f"nproc={view.processes}")
        yield from ("--shm-size", str(memory))
        yield from ("--tmpfs", f"/tmp:rw,exec,mode=1777,size={memory}")

    def _mounts(self, view: View) -> Iterator[str]:
        for path in view.readable:
            yield from ("--mount", _bind(path, "readonly"))
        for path in hidden_paths(view):
            if set(view.readable) & set(path.parents):
                yield from self._cover(path)
        yield from ("--mount", _bind(view.writable))
        for path, source in view.in_place_of.items():
            yield from ("--mount", _bind(path, "readonly", source=source))

    def _cover(self, path: Path) -> tuple[str, ...]:
        """Hide a folder behind an empty one, a file behind one with nothing in it."""
        if not path.is_dir():
            return ("--mount", _bind(path, "readonly", source=Path(os.devnull)))
        # Podman would copy into it what it is to hide.
        return ("--tmpfs", f"{path}:{'notmpcopyup,' if self._is_podman else ''}size=4096")

    @cached_property
    def _is_podman(self) -> bool:
        """Whether it is Podman, which may go by the name of Docker."""
        run = run_command(
            [*self._engine, "--version"], cwd=Path("/"), environment=os.environ, seconds=20
        )
        return "podman" in run.stdout


@cache
def find_container(engine: str = "", image: str | None = None) -> Container:
    """Give the first of Docker and Podman that answers, or the given command line if it does.

    Raises `InfraError` where none does, or where it does not run the image, if there is one.
    """
    reasons = []
    for command in [tuple(shlex.split(engine))] if engine else [(name,) for name in _ENGINES]:
        reason = _ask(command)
        if not reason:
            container = Container(*command, image=image)
            if image is not None:
                container.require(image)
            return container
        reasons.append(f"{shlex.join(command)}: {reason}")
    raise InfraError(
        f"the sandbox container does not work here ({'; '.join(reasons)}): start the engine, or "
        "name another with --mlab-sandbox='container:COMMAND LINE'"
    )


def _ask(command: tuple[str, ...]) -> str:
    if shutil.which(command[0]) is None:
        return "is not installed"
    run = run_command(
        [*command, "ps", "--quiet"], cwd=Path("/"), environment=os.environ, seconds=20
    )
    return "" if run.exit_code == 0 else run.stderr.strip() or run.describe_end()


def _bind(path: Path, *options: str, source: Path | None = None) -> str:
    """Write a mount as the engines read it: one line of CSV."""
    line = io.StringIO()
    fields = ["type=bind", f"source={source or path}", f"target={path}", *options]
    csv.writer(line).writerow(fields)
    return line.getvalue().removesuffix("\r\n")
