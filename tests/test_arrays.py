"""Arrays from another process: what was sent is read, and lies about it are found out."""

import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pytest_mlab.arrays import Array, WrongArray, check_agreement, pack_arrays, unpack_floats

finite = {"allow_nan": False, "allow_infinity": False}
shapes = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


@given(
    values=arrays.arrays(st.sampled_from(["<f8", ">f8", "<f4"]), shapes, elements=finite),
    order=st.sampled_from(["C", "F"]),
)
def test_what_was_packed_is_read(values: Array, order: str) -> None:
    sent = np.asarray(values, order="F" if order == "F" else "C")
    received = unpack_floats(pack_arrays([sent]), values.shape)
    assert received.dtype == values.dtype
    np.testing.assert_array_equal(received, values)


def test_several_arrays_follow_one_another() -> None:
    stream = io.BytesIO(pack_arrays([np.arange(3), np.eye(2)]))
    np.testing.assert_array_equal(np.load(stream), np.arange(3))
    np.testing.assert_array_equal(np.load(stream), np.eye(2))


def test_objects_are_not_packed() -> None:
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        pack_arrays([np.array([object()])])


@given(message=st.one_of(st.binary(), st.binary().map(lambda data: b"\x93NUMPY\x01\x00" + data)))
def test_any_other_bytes_are_a_wrong_array(message: bytes) -> None:
    with pytest.raises(WrongArray):
        unpack_floats(message, (2, 3))


@given(header=st.text(max_size=60))
def test_any_other_header_is_a_wrong_array(header: str) -> None:
    with pytest.raises(WrongArray):
        unpack_floats(npy(header, bytes(48)), (2, 3))


def test_no_memory_is_reserved_on_a_headers_word() -> None:
    message = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000,), }")
    tracemalloc.start()
    try:
        with pytest.raises(WrongArray):
            unpack_floats(message, (100_000_000,))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_nothing_is_unpickled() -> None:
    stream = io.BytesIO()
    np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(WrongArray, match="has the type object"):
        unpack_floats(stream.getvalue())


def test_agreement_is_that_of_allclose() -> None:
    check_agreement(np.array([1.0 + 1e-7]), np.array([1.0]), rtol=1e-6, atol=0.0)
    with pytest.raises(WrongArray, match=r"by up to 0\.5 \(allowed: 0 \+ 1e-06 x"):
        check_agreement(np.array([1.5]), np.array([1.0]), rtol=1e-6, atol=0.0)


def test_even_the_largest_difference_can_be_told() -> None:
    largest = np.finfo(float).max
    with pytest.raises(WrongArray, match="by up to inf"):
        check_agreement(np.array([largest]), np.array([-largest]), rtol=1e-6, atol=0.0)
