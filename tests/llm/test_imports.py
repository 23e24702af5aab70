"""A session that asks no language model pays for none."""

import subprocess
import sys

import pytest

HEAVY = ("anthropic", "openai", "httpx", "httpx2", "pydantic", "genai_prices", "xllamacpp")


def loaded_by(code: str) -> set[str]:
    """Give which heavy packages a fresh process has loaded after running some code."""
    script = f"import sys\n{code}\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import pytest_mlab.llm",
        "from pytest_mlab.llm import lookup; lookup('gpt-4'); lookup('claude-2.1')",
        "from pytest_mlab.llm import check, lookup; check(lookup('hf/m'))",
        "import pytest_mlab.llm.meter, pytest_mlab.llm.record, pytest_mlab.budget",
        "import pytest_mlab.llm.local, pytest_mlab.llm.replay",
        "import pytest_mlab.llm.openai_chat, pytest_mlab.llm.anthropic_messages",
    ],
)
def test_looking_up_and_checking_loads_no_sdk(code: str) -> None:
    assert loaded_by(code) == set()


def test_one_sdk_does_not_bring_the_other() -> None:
    asked = "from pytest_mlab.llm import connect, lookup; connect(lookup('hf/m'))"
    assert "anthropic" not in loaded_by(asked)
    asked = "from pytest_mlab.llm import connect, lookup; connect(lookup('anthropic:m@http://x'))"
    assert "openai" not in loaded_by(asked)
