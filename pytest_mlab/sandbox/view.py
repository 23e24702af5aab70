"""What a confined command may see, change and use up."""

import os
import site
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_FROM_HOST = ("LD_LIBRARY_PATH", "TZ")

USER = "agent"


@dataclass(frozen=True, kw_only=True)
class View:
    """What a confined command sees, and how much it may use.

    The limits of memory, of a file and of open files hold for each process. Those of the workspace
    are for who starts commands to hold, by a `Quota`.

    All paths are absolute and keep their names inside. `environment` comes on top of a short
    allow-list; nothing else of ours is passed on. GPUs are visible where it names some in
    ``CUDA_VISIBLE_DEVICES``. What is `concealed` cannot be read, though it lies in something that
    can, such as among installed packages. `in_place_of` gives, for a path, the file or folder that
    is seen there instead of its own, read-only; a list of files (landlock) cannot hold to it.
    """

    writable: Path
    readable: tuple[Path, ...] = ()
    concealed: tuple[Path, ...] = ()
    in_place_of: Mapping[Path, Path] = field(default_factory=dict)
    network: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    memory_gb: float = 2.0
    file_gb: float = 10.0
    processes: int = 2048
    open_files: int = 1024
    workspace_gb: float = 10.0
    workspace_files: int = 200_000
    image: str | None = None

    @property
    def gpus(self) -> bool:
        """Whether the command was given a GPU."""
        return bool(self.environment.get("CUDA_VISIBLE_DEVICES"))


def allowed_environment(view: View) -> dict[str, str]:
    """Give the environment of a confined command: a few variables, none with a secret in it."""
    kept = {name: os.environ[name] for name in _FROM_HOST if name in os.environ}
    return {
        "PATH": f"{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin",  # noqa: PTH120
        "HOME": "/tmp",
        "USER": USER,
        "LOGNAME": USER,
        "LANG": "C.UTF-8",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONUTF8": "1",
        # Output reaches a log as it is printed, and nothing but the agent's own files appears in
        # the workspace, nor in the search path of its Python.
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **_user_site(),
        **kept,
        **view.environment,
    }


def gpu_devices() -> list[str]:
    """Give the files by which programs talk to GPUs, of Nvidia's and of others."""
    found = (path for pattern in ("nvidia*", "dri", "kfd") for path in Path("/dev").glob(pattern))
    return sorted(map(str, found))


def _user_site() -> dict[str, str]:
    """Keep packages that were installed for the user, where our own Python uses them."""
    if site.ENABLE_USER_SITE:
        return {"PYTHONUSERBASE": site.getuserbase()}
    return {"PYTHONNOUSERSITE": "1"}
