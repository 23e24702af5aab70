"""What can go wrong between an agent and a language model, and whose business it is.

    BaseException
    ├── AgentStop
    │   └── LimitReached           the trial's tokens, cost or time would not hold another call
    └── Exception
        ├── ActionError
        │   └── RequestError       the agent's: it may send another request
        │       └── TooLong        the prompt is over the model's context window
        └── MlabError
            ├── UsageError         the user's: told before any task runs
            │   └── LLMUsageError
            │       ├── UnknownLLM     no provider goes by that name
            │       └── MissingKey     the key's environment variable is not set
            ├── ReplayDiverged     the agent asks otherwise than when it was recorded
            ├── Unavailable        the extra that serves `local` is not installed
            └── InfraError
                └── ProviderError  the provider failed, after the SDK's own retries
                    ├── InvalidKey      401, 403
                    ├── UnknownModel    404
                    ├── RateLimited     429
                    ├── Overloaded      500 and above, 529
                    ├── ConnectionLost  refused, cut or too slow
                    └── BadAnswer       an answer that is not of the protocol

A refusal and a content filter are no exceptions: they are replies whose ``stop`` says so, since
the agent may well go on after them.
"""

from pytest_mlab.exceptions import ActionError, InfraError, MlabError, UsageError


class RequestError(ActionError):
    """The provider rejects the request (400, 413, 422); another request may do."""


class TooLong(RequestError):
    """The prompt is longer than the model's context window; a shorter one may do."""


class LLMUsageError(UsageError):
    """The user asked for a language model that cannot be had."""


class UnknownLLM(LLMUsageError):
    """No provider goes by that name."""


class MissingKey(LLMUsageError):
    """The environment variable that holds the provider's key is not set."""


class ReplayDiverged(MlabError):
    """The agent asks something else than what was recorded; says at which call and how."""


class ProviderError(InfraError):
    """The provider failed, also when asked again."""


class InvalidKey(ProviderError):
    """The provider does not take the key, or not for this model (401, 403)."""


class UnknownModel(ProviderError):
    """The provider has no such model, or no longer (404)."""


class RateLimited(ProviderError):
    """The provider would not take another request in time (429)."""


class Overloaded(ProviderError):
    """The provider failed on its side (500 and above)."""


class ConnectionLost(ProviderError):
    """The provider could not be reached, hung up or took too long."""


class BadAnswer(ProviderError):
    """The provider's answer is not what its protocol says."""
