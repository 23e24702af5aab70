"""A container, by Docker, Podman or a program that takes their options."""

import csv
import io
import os
import shlex
import shutil
import sys
import uuid
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from pytest_mlab.exceptions import InfraError
from pytest_mlab.process import run_command
from pytest_mlab.sandbox.interpreter import hidden_paths
from pytest_mlab.sandbox.supervisor import supervise_command
from pytest_mlab.sandbox.view import View, allowed_environment

_ENGINES = ("docker", "podman")

# What belongs to this machine's Python and not to the image's.
_NOT_INSIDE = {"PATH", "LD_LIBRARY_PATH", "PYTHONUSERBASE"}


class Container:
    """Runs a command in a container of its own, from one image or from those the views name."""

    name = "container"
    inherits = False

    def __init__(self, *engine: str, image: str | None = None) -> None:
        self._engine = engine
        self._image = image

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line that runs `argv`; our own Python becomes the image's ``python3``.

        Raises `InfraError` where there is no image.
        """
        image = self._image or view.image
        if image is None:
            raise InfraError(
                "the sandbox container needs an image; name one that has Python and the task's "
                "packages in it, with --mlab-image or in task.toml: [resources] image"
            )
        name = f"mlab-{uuid.uuid4().hex}"
        program = "python3" if argv[0] == sys.executable else argv[0]
        run = [
            *(*self._engine, "run", "--name", name, *self._options(view)),
            *("--entrypoint", program, image, *argv[1:]),
        ]
        remove = [*self._engine, "rm", "--force", name]
        return supervise_command("container", {"remove": remove}, run)

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment of the engine's program; the command gets the view's."""
        return dict(os.environ)

    def _options(self, view: View) -> Iterator[str]:
        memory = str(int(view.memory_gb * 2**30))
        file_size = int(view.file_gb * 2**30)
        yield from ("--rm", "--interactive", "--init", "--quiet", "--log-driver", "none")
        yield from ("--hostname", "mlab", "--workdir", str(view.writable))
        yield from ("--user", f"{os.geteuid()}:{os.getegid()}")
        if "podman" in Path(self._engine[0]).name and os.geteuid() != 0:
            yield from ("--userns", "keep-id")
        yield from ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
        if not view.network:
            yield from ("--network", "none")
        yield from ("--memory", memory, "--memory-swap", memory, "--oom-score-adj", "1000")
        yield from ("--pids-limit", str(view.processes), "--ulimit", "core=0")
        yield from ("--ulimit", f"nofile={view.open_files}", "--ulimit", f"fsize={file_size}")
        yield from ("--shm-size", memory, "--tmpfs", f"/tmp:rw,exec,mode=1777,size={memory}")
        for path in view.readable:
            yield from ("--mount", _bind(path, "readonly"))
        for path in hidden_paths(view):
            if set(view.readable) & set(path.parents):
                yield from ("--tmpfs", str(path))
        yield from ("--mount", _bind(view.writable))
        for path, source in view.in_place_of.items():
            yield from ("--mount", _bind(path, "readonly", source=source))
        inside = {
            name: value
            for name, value in allowed_environment(view).items()
            if name not in _NOT_INSIDE
        }
        if view.gpus:
            devices = view.environment["CUDA_VISIBLE_DEVICES"]
            yield from ("--gpus", f'"device={devices}"')
            # The engine shows these devices only, and they are counted from 0 in there.
            inside["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(devices.count(",") + 1)))
        for name, value in inside.items():
            yield from ("--env", f"{name}={value}")


@cache
def find_container(engine: str = "", image: str | None = None) -> Container:
    """Give the first of Docker and Podman that answers, or the given command line if it does."""
    reasons = []
    for command in [tuple(shlex.split(engine))] if engine else [(name,) for name in _ENGINES]:
        reason = _try(command)
        if not reason:
            return Container(*command, image=image)
        reasons.append(f"{shlex.join(command)}: {reason}")
    raise InfraError(
        f"the sandbox container does not work here ({'; '.join(reasons)}): start the engine, or "
        "name another with --mlab-sandbox='container:COMMAND LINE'"
    )


def _try(command: tuple[str, ...]) -> str:
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
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()
