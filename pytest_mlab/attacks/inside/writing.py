"""Writing where nothing may be written."""

import contextlib
import os
from collections.abc import Iterator

from pytest_mlab.attacks.inside.making import Attack, Config


def write_outside(config: Config) -> Iterator[str]:
    """Leave a mark wherever it might stay."""
    with contextlib.suppress(OSError):
        os.symlink(config["outside"], "out")
    for path in config["marks"]:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x"):
                pass
    return iter(())


def overwrite_public_data(config: Config) -> Iterator[str]:
    """Write into the data that all trials share, under several spellings."""
    for path in config["data"]:
        _write_what_is_there(path)
        _write_what_is_there(f"/proc/self/root{path}")
    return iter(())


def overwrite_the_interpreter(config: Config) -> Iterator[str]:
    """Write into a file among the programs and the packages that the harness runs."""
    for path in config["programs"]:
        _write_what_is_there(path)
    return iter(())


ATTACKS: tuple[Attack, ...] = (
    write_outside,
    overwrite_public_data,
    overwrite_the_interpreter,
)


def _write_what_is_there(path: str) -> None:
    """Write a file's first byte once more, which shows by the time of its last change."""
    with contextlib.suppress(OSError):
        os.chmod(path, os.stat(path).st_mode | 0o200)
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDWR)
        os.pwrite(file, os.pread(file, 1, 0), 0)
        os.close(file)
