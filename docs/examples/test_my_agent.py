"""What we ask of our agent beyond a better score."""

import pytest


@pytest.mark.mlab_task("digits")
def test_is_frugal(mlab_run):
    result = mlab_run()
    assert result.success, result.summary()
    assert result.steps <= 10
    assert result.usage.tokens < 20_000
