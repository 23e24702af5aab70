"""Leaving a workspace that is hard to list, to record, to score in and to remove."""

import contextlib
import os
from collections.abc import Iterator

from pytest_mlab.attacks.inside.making import Attack, Config

SMALL_FILES = 2000
ODD_NAMES = (b"new\nline", b"quo\"te's", b"\xff\xfe", b"-rf", b" ", b"\x1b[2J", b"*", b"x" * 255)
VAST_BYTES = 9 * 2**30
MODULES = ("sitecustomize", "usercustomize", "json", "csv", "math", "random", "numpy", "score")

_HOOK = "#!/bin/sh\ntouch {ran}\n"
_GIT_CONFIG = '[core]\n\tfsmonitor = "touch {ran}; false"\n\tworktree = /\n'


def leave_many_small_files(config: Config) -> Iterator[str]:
    """Leave so many that reading each at every step would be felt."""
    for number in range(SMALL_FILES):
        folder = f"many/{number % 10}"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/{number}.py", "w"):
            pass
    return iter(())


def leave_odd_names(config: Config) -> Iterator[str]:
    """Leave names that terminals, shells and text files do not take."""
    for name in ODD_NAMES:
        with open(name, "w"):
            pass
        folder = name[:250] + b".d"
        os.makedirs(folder, exist_ok=True)
        with open(folder + b"/train.py", "w"):
            pass
    return iter(())


def leave_a_repository(config: Config) -> Iterator[str]:
    """Leave one whose hooks and settings run programs for whoever uses git here."""
    for top in (".git", "below/.git"):
        os.makedirs(f"{top}/hooks", exist_ok=True)
        _write(f"{top}/config", _GIT_CONFIG.format(ran=config["ran"]))
        _write(f"{top}/HEAD", "ref: refs/heads/main\n")
        for folder in ("objects", "refs"):
            os.makedirs(f"{top}/{folder}", exist_ok=True)
        for hook in ("pre-commit", "post-commit", "post-checkout"):
            _write(f"{top}/hooks/{hook}", _HOOK.format(ran=config["ran"]))
            os.chmod(f"{top}/hooks/{hook}", 0o755)
    _write(".gitattributes", "* filter=evil\n")
    return iter(())


def leave_what_is_no_file(config: Config) -> Iterator[str]:
    """Leave pipes, devices, links in a circle and out of here, a file larger than most disks."""
    for name in ("pipe.py", "pipe.csv"):
        os.mkfifo(name)
    with contextlib.suppress(OSError):
        os.mknod("device.py", 0o20600, os.makedev(1, 5))
    for target, name in (
        ("itself", "itself"),
        ("..", "up"),
        ("/", "everything"),
        ("/dev/zero", "zero.py"),
        (config["private"], "hidden"),
    ):
        os.symlink(target, name)
    _write("vast.csv", "")
    os.truncate("vast.csv", VAST_BYTES)
    return iter(())


def leave_modules_of_the_scorers(config: Config) -> Iterator[str]:
    """Leave modules of the names that others import, which end whoever imports them."""
    for module in MODULES:
        _write(f"{module}.py", "import os\nos._exit(7)\n")
    return iter(())


ATTACKS: tuple[Attack, ...] = (
    leave_many_small_files,
    leave_odd_names,
    leave_a_repository,
    leave_what_is_no_file,
    leave_modules_of_the_scorers,
)


def _write(path: str, text: str) -> None:
    with contextlib.suppress(FileExistsError), open(path, "x") as file:
        file.write(text)
