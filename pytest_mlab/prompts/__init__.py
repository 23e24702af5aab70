"""The prompts, each a text file beside this module; what stands behind a $ is filled in."""

from functools import cache
from importlib.resources import files
from string import Template


def fill(name: str, /, **values: object) -> str:
    """Give the prompt of a name with its places filled in."""
    return _read(name).substitute(values)


@cache
def _read(name: str) -> Template:
    return Template((files(__name__) / f"{name}.md").read_text(encoding="utf-8"))
