"""A real container engine for the tests, and an image for it, made here: nothing is downloaded.

The image holds the Python that runs the tests, its standard library, a few programs, and the shared
libraries of these. ``MLAB_TEST_ENGINE`` names another command line than those that are tried.
"""

import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytest_mlab.exceptions import InfraError
from pytest_mlab.sandbox import Sandbox, find_sandbox

# Podman's own choice, crun, does not work on machines with control groups of both versions.
_ENGINES = ("podman --runtime runc", "podman", "docker")

_PROGRAMS = ("sh", "cat", "env", "sleep", "yes")
_SUPERFLUOUS = re.compile(r".*/(site-packages|test|idlelib|ensurepip|tkinter|__pycache__)")


@dataclass(frozen=True)
class Engine:
    """An engine that runs containers here, and an image that it has."""

    command: str
    image: str

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox that the two make."""
        return find_sandbox(f"container:{self.command}", self.image)

    def run(self, *arguments: str) -> str:
        """Give what the engine says to a command."""
        command = [*shlex.split(self.command), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@cache
def find_engine() -> Engine | str:
    """Give the first engine that works, or the reason why none does."""
    reasons = []
    named = os.environ.get("MLAB_TEST_ENGINE")
    for command in [named] if named else _ENGINES:
        engine = Engine(f"{_home()}{command}", f"mlab-tests:{uuid.uuid4().hex}")
        try:
            find_sandbox(f"container:{command}")
            _make_image(engine)
        except InfraError as error:
            reasons.append(str(error))
            continue
        try:
            find_sandbox(f"container:{engine.command}", engine.image)
        except InfraError as error:
            reasons.append(str(error))
            remove_image(engine)
        else:
            return engine
    return f"{'; '.join(reasons)}; for an engine: apt-get install podman runc"


def _home() -> str:
    """Name an ordinary user's home, where the images are: pytester gives tests another."""
    home = pwd.getpwuid(os.geteuid()).pw_dir
    return f"env HOME={shlex.quote(home)} " if os.geteuid() != 0 else ""


def remove_image(engine: Engine) -> None:
    """Take the image away again."""
    engine.run("image", "rm", "--force", engine.image)


def _make_image(engine: Engine) -> None:
    command = [*shlex.split(engine.command), "import", "-", engine.image]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as importing:
        assert importing.stdin is not None
        with tarfile.open(fileobj=importing.stdin, mode="w|", dereference=True) as tar:
            _add_python(tar)
    if importing.returncode != 0:
        raise InfraError(f"{shlex.join(command)}: exit code {importing.returncode}")


def _add_python(tar: tarfile.TarFile) -> None:
    python = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}").resolve()
    library = Path(sysconfig.get_path("stdlib"))
    programs = {name: path for name in _PROGRAMS if (path := shutil.which(name))}
    modules = (library / "lib-dynload").glob("*.so")
    linked = subprocess.run(
        ["ldd", python, *programs.values(), *modules], capture_output=True, text=True, check=False
    )
    tar.add(library, filter=lambda file: None if _SUPERFLUOUS.fullmatch(file.name) else file)
    for path in {python, *re.findall(r"(/\S+) \(0x", linked.stdout)}:
        tar.add(path)
    for name, path in programs.items():
        tar.add(path, f"bin/{name}")
    link = tarfile.TarInfo("bin/python3")
    link.type, link.linkname = tarfile.SYMTYPE, str(python)
    tar.addfile(link)
