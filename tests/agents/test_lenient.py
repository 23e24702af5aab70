"""What models write where JSON was asked for."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.agents.lenient import LenientError, read_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(), VALUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "b"}', {"a": "b"}),
        ("{'a': 'b'}", {"a": "b"}),
        ('{"a": "b",}', {"a": "b"}),
        ('{"a": """x\n"y"\n"""}', {"a": 'x\n"y"\n'}),
        ("{'a': '''x\ny'''}", {"a": "x\ny"}),
        ('{"a": "line\nline"}', {"a": "line\nline"}),
        ("{'a': 'it's here'}", {"a": "it's here"}),
        ('{"a": "print("hi")", "b": 1}', {"a": 'print("hi")', "b": 1}),
        ('{"a": True, "b": None, "c": false}', {"a": True, "b": None, "c": False}),
        ('{a: "b"}', {"a": "b"}),
        ('{"a": [1, 2.5, -3e2,],}', {"a": [1, 2.5, -300.0]}),
        ('{\n  // why not\n  "a": 1  # because\n}', {"a": 1}),
        (r'{"a": "C:\path", "b": "\'q\'"}', {"a": r"C:\path", "b": "'q'"}),
        (r"{'a': '\x41\u00e9\U0001F600\n\t\\'}", {"a": "Aé😀\n\t\\"}),
        ('{"a": "résumé 中文"}', {"a": "résumé 中文"}),
        ("{}", {}),
    ],
)
def test_reads(text: str, expected: dict[str, Any]) -> None:
    assert read_object(text) == (expected, len(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": "cut off in the mid', "has no end"),
        ('{"a": """cut off in the mid"', "has no end"),
        ('{"a": ', "breaks off"),
        ('{"a": "b"', "breaks off"),
        ('{"a" "b"}', "has no end"),
        ("{'a': b}", "a value is expected"),
        ("{'a': 1 'b': 2}", '"," is expected (line 1'),
        ("{[1]: 2}", "a name in quotes"),
        ('["a"]', "not an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_says_what_is_wrong(text: str, told: str) -> None:
    """Above all what is cut off: half a file must not pass for a whole one."""
    with pytest.raises(LenientError, match=told.replace("(", r"\(")):
        read_object(text)


def test_an_unescaped_quote_never_passes_for_the_end_of_a_text() -> None:
    with pytest.raises(LenientError):
        read_object('{"content": "names = ["a", "b"]", "n": 1}'[:-1])


@given(OBJECTS, st.text())
def test_reads_json_as_json_says_whatever_follows(value: dict[str, Any], after: str) -> None:
    text = json.dumps(value)
    assert read_object(text + after) == (value, len(text))


@given(OBJECTS)
def test_reads_json_with_raw_characters(value: dict[str, Any]) -> None:
    assert read_object(json.dumps(value, ensure_ascii=False, indent=1))[0] == value


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.none()))
def test_reads_what_python_prints(value: dict[str, Any]) -> None:
    assert read_object(repr(value))[0] == value


KEYS = st.text(st.characters(categories=["L", "N"]), min_size=1)


@given(st.dictionaries(KEYS, st.text(), min_size=1))
def test_reads_triple_quoted_texts(value: dict[str, str]) -> None:
    escaped = {key: text.replace("\\", "\\\\").replace('"', '\\"') for key, text in value.items()}
    text = ", ".join(f'"{key}": """{text}"""' for key, text in escaped.items())
    assert read_object("{" + text + ",}")[0] == value


@given(st.text(st.sampled_from("{}[]:,\"'\\ \nabx1-#/uU0tfn")) | st.text())
def test_raises_nothing_but_its_own_error(text: str) -> None:
    with suppress(LenientError):
        value, end = read_object("{" + text)
        assert isinstance(value, dict)
        assert end <= len(text) + 1
