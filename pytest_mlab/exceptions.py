"""What can go wrong, and whose fault it is.

    BaseException
    ├── AgentStop              control flow: the agent's turn is over
    │   ├── Submitted          it gave its final answer
    │   └── LimitReached       it ran out of steps, time, tokens or money
    └── Exception
        ├── ActionError        told to the agent as an observation; the trial goes on
        ├── InvalidSubmission  the agent's fault: the trial FAILED, without a score
        │   └── NoSubmission   there is none
        └── MlabError          not the agent's fault: the item is an ERROR
            ├── UsageError     an option or a name is wrong: said before anything runs
            ├── TaskError      the task author's: task.toml, prepare.py or score.py is wrong
            ├── InfraError     the provider, the device or the machine failed
            │   └── BudgetSpent  the session's budget does not hold what the trial needs
            └── Unavailable    a package, data set or device is missing: the item is skipped
                └── LeftOver   so is one that the session's budget was used up before

`AgentStop` is no `Exception`, so that an agent's own ``except Exception`` cannot swallow it.
"""

from typing import Literal

Limit = Literal["steps", "time", "tokens", "cost"]


class AgentStop(BaseException):
    """The agent's turn is over; raised by the environment, caught by the trial."""


class Submitted(AgentStop):
    """The agent gave its final answer."""


class LimitReached(AgentStop):
    """The agent used up one of its limits."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(f"the limit of {limit} is reached")
        self.limit: Limit = limit


class ActionError(Exception):
    """An action could not be done; the message is the agent's next observation."""


class InvalidSubmission(Exception):
    """The submission cannot be scored; raised by a task's ``score.py``, says what is wrong."""


class NoSubmission(InvalidSubmission):
    """The agent handed in nothing."""


class MlabError(Exception):
    """Something that is not the agent's fault."""


class UsageError(MlabError):
    """What the user asked for is not there or makes no sense; the message says what does."""


class TaskError(MlabError):
    """A task folder is wrong; names the file, the place in it and the remedy."""


class InfraError(MlabError):
    """A provider, device or machine failed."""


class Unavailable(MlabError):
    """Something that the task needs is not here; the message is the remedy."""


class BudgetSpent(InfraError):
    """The session's budget does not hold what the trial needs: no verdict on the agent.

    ``limit`` says of what there is not enough, such as ``5 USD``.
    """

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


LEFT_OVER = "not run: budget: "
"""How the reason of a trial begins that is left for a session to come."""


class LeftOver(Unavailable):
    """The session's budget was used up before the trial had asked for anything."""

    def __init__(self, limit: str) -> None:
        super().__init__(f"{LEFT_OVER}{limit} do not hold it; --mlab-resume goes on with it")
