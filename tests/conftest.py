"""What every test gets: a cache of its own, never the user's."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep prepared data in a temporary folder, in sessions that tests start too."""
    before = os.environ.get("MLAB_CACHE")
    os.environ["MLAB_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["MLAB_CACHE"]
    if before is not None:
        os.environ["MLAB_CACHE"] = before
