"""Missing packages are named with the command that installs them, without importing any."""

import sys

import pytest

from pytest_mlab import Unavailable
from pytest_mlab.packages import require_packages


def test_packages_that_are_here_are_no_obstacle() -> None:
    require_packages(["pytest", "pytest>=8", "Hypothesis"], "task x")


def test_a_package_is_looked_up_not_imported() -> None:
    loaded = "sklearn" in sys.modules
    require_packages(["scikit-learn"], "task x")
    assert ("sklearn" in sys.modules) == loaded


def test_what_is_missing_is_named_with_pips_command() -> None:
    with pytest.raises(Unavailable) as error:
        require_packages(["pytest", "no-such-package-a", "no-such-package-b>=2"], "task x")
    assert str(error.value) == (
        "task x needs packages that are not here: "
        'pip install no-such-package-a "no-such-package-b>=2"'
    )


def test_a_version_that_is_too_old_is_missing() -> None:
    with pytest.raises(Unavailable, match='pip install "pytest>=99"'):
        require_packages(["pytest>=99"], "task x")


def test_what_another_system_needs_is_not_missing_here() -> None:
    require_packages(['no-such-package; sys_platform == "win32"'], "task x")


def test_of_a_package_that_carries_data_only_the_files_are_wanted() -> None:
    with pytest.raises(Unavailable) as error:
        require_packages(["no-such-tool"], "task x", carriers=["pytest", "no-such-data==1.0"])
    assert str(error.value) == (
        "task x needs packages that are not here: "
        'pip install no-such-tool && pip install --no-deps "no-such-data==1.0"'
    )
