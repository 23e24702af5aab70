"""Whatever looks like a key in the environment is kept out of what is written down."""

import pytest

from pytest_mlab.llm.secrets import scrub


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET", "DB_PASSWORD", "GOOGLE_APPLICATION_CREDENTIALS"],
)
def test_secrets_are_told_by_their_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "s3cr3t-value")
    assert scrub("a s3cr3t-value, twice: s3cr3t-value") == f"a <{name}>, twice: <{name}>"


@pytest.mark.parametrize(("name", "value"), [("HOME", "/home/somebody"), ("USE_TOKEN", "1")])
def test_all_else_stays(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert scrub(f"text with {value}") == f"text with {value}"
