"""Which packages are installed, asked without importing them."""

import importlib.metadata
from collections.abc import Iterable

from packaging.requirements import Requirement

from pytest_mlab.exceptions import Unavailable


def require_packages(requirements: Iterable[str], purpose: str) -> None:
    """Raise `Unavailable`, with the command that installs them, where packages are missing."""
    missing = [text for text in requirements if not _is_installed(Requirement(text))]
    if missing:
        names = " ".join(f'"{text}"' if set(text) & set("<>=!~[; ") else text for text in missing)
        raise Unavailable(f"{purpose} needs packages that are not here: pip install {names}")


def _is_installed(requirement: Requirement) -> bool:
    if requirement.marker is not None and not requirement.marker.evaluate():
        return True
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)
