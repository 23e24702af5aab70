"""pytest-mlab: ML-experimentation benchmark tasks as pytest items."""

from pytest_mlab.exceptions import (
    ActionError,
    InfraError,
    InvalidSubmission,
    MlabError,
    TaskError,
    Unavailable,
)

__all__ = [
    "ActionError",
    "InfraError",
    "InvalidSubmission",
    "MlabError",
    "TaskError",
    "Unavailable",
]
