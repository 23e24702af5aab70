"""Which file is the submission: read off the source of ``eval.py``, which is not run for it."""

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pytest_mlab.exceptions import TaskError

DEFAULT = "submission.csv"


def find_submission(evaluation: Path, stated: str | None = None) -> str:
    """Give the file that is handed in: the one stated, or the one that ``get_score`` reads.

    Where the source does not show any, that is "submission.csv". Raises `TaskError` where there is
    no ``get_score(folder)``, or where it reads several files or a folder.
    """
    function = _find_get_score(evaluation)
    if stated is not None:
        return stated
    names = sorted(_leaves(_Reader(function.args.args[0].arg).read(function)))
    if not names:
        return DEFAULT
    if len(names) > 1 or not PurePosixPath(names[0]).suffix:
        raise TaskError(
            f"{evaluation}: get_score() reads {', '.join(names)} of the folder it is given, but "
            "what is handed in here is one file; where one is enough to score, name it under "
            "[submission] file in mlab.toml beside it"
        )
    return names[0]


def _find_get_score(evaluation: Path) -> ast.FunctionDef:
    try:
        tree = ast.parse(evaluation.read_bytes())
    except FileNotFoundError:
        raise TaskError(
            f"{evaluation}: is missing, so nothing measures what an agent does; write it, with "
            "get_score(folder) giving the score of the submission in that folder"
        ) from None
    except (SyntaxError, ValueError, OSError) as error:
        raise TaskError(f"{evaluation}: cannot be read as Python: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_score" and node.args.args:
            return node
    raise TaskError(
        f"{evaluation}: defines no get_score(folder); write that function, giving the score of "
        "the submission in that folder"
    )


def _leaves(names: set[str]) -> set[str]:
    """Leave out the folders of which something below is named too."""
    above = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    return names - above


class _Reader:
    """Follows the folder through a function's expressions and plain assignments."""

    def __init__(self, folder: str) -> None:
        self._known = {folder: PurePosixPath()}

    def read(self, function: ast.FunctionDef) -> set[str]:
        """Give the names below the folder that are spelled out in the function."""
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name):
                path = self._resolve(node.value)
                if path is not None:
                    self._known[target.id] = path
        return {str(path) for path in self._find(function) if path.parts}

    def _find(self, node: ast.AST) -> Iterator[PurePosixPath]:
        path = self._resolve(node)
        if path is not None:
            yield path
            return
        for child in ast.iter_child_nodes(node):
            yield from self._find(child)

    def _resolve(self, node: ast.AST) -> PurePosixPath | None:
        match node:
            case ast.Name(id=name):
                return self._known.get(name)
            case ast.BinOp(left=left, op=ast.Add() | ast.Div(), right=right):
                return self._join(left, [right])
            case ast.JoinedStr(values=[first, *rest]):
                return self._join(first, rest)
            case ast.FormattedValue(value=value):
                return self._resolve(value)
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called), args=[first, *rest]
            ):
                return self._join(first, rest) if called in ("Path", "join", "str") else None
        return None

    def _join(self, start: ast.AST, parts: list[ast.expr]) -> PurePosixPath | None:
        path = self._resolve(start)
        for part in parts:
            if path is None or not isinstance(part, ast.Constant):
                return None
            path = path / str(part.value).strip("/")
        return path
