"""What every test gets: a cache and leases of its own, never the user's."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.projects import Project, ways_to_run
from tests.sandbox.engines import Engine, find_engine, remove_image

# That a machine is busy is no fault of what is tested.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_configure() -> None:
    """Let sessions that tests start be interrupted, also where this one runs in the background.

    A shell has its background jobs ignore Ctrl-C, and what they start inherits that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def cache_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep prepared data and leases in temporary folders, in sessions that tests start too."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MLAB_CACHE", "MLAB_LEASES"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        yield


@pytest.fixture(scope="session", autouse=True)
def image_of_tests() -> Iterator[None]:
    """Take the image away that was made for tests, where one was."""
    yield
    if find_engine.cache_info().currsize and isinstance(engine := find_engine(), Engine):
        remove_image(engine)


@pytest.fixture(autouse=True)
def outside_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions that a test starts take no notice of the one that it runs in."""
    for name in ("CI", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def no_stale_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions that a test starts see a module that it rewrites within the same second."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


@pytest.fixture(params=ways_to_run())
def plugin_args(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Give the arguments of each way in which a session may run."""
    args: tuple[str, ...] = request.param
    return args


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project, its terminal as wide as most are."""
    monkeypatch.setenv("COLUMNS", "80")
    return Project(pytester)
