"""The script that makes attacks where an agent's scripts run; it brings its modules along."""

from collections.abc import Iterable
from pathlib import Path

from pytest_mlab.attacks import inside
from pytest_mlab.attacks.inside.making import Attack, Config

_SCRIPT = """\
import os

for path, text in {sources!r}.items():
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)

from pytest_mlab.attacks import inside
from pytest_mlab.attacks.inside.making import make_attacks

names = {names!r}
make_attacks([each for each in inside.ATTACKS if each.__name__ in names], {config!r})
"""


def write_script(attacks: Iterable[Attack], config: Config) -> str:
    """Give a Python script that makes attacks with what they are told.

    Beside it, it lays a package of this one's name with nothing but the attacks in it: where they
    are made, this one may be missing or closed.
    """
    folder = Path(inside.__file__).parent
    package = Path("pytest_mlab")
    sources = {str(package / "__init__.py"): "", str(package / "attacks" / "__init__.py"): ""}
    for file in sorted(folder.glob("*.py")):
        path = package / "attacks" / folder.name / file.name
        sources[str(path)] = file.read_text(encoding="utf-8")
    names = [attack.__name__ for attack in attacks]
    return _SCRIPT.format(sources=sources, names=names, config=config)
