"""Prepare the data: graphs drawn by dm-clrs' sampler, and what Floyd-Warshall says of them."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock, patch

TRAINING_SIZES = (4, 7, 11, 13, 16)
TRAINING_GRAPHS = 200
TEST_SIZE = 64
TEST_GRAPHS = 32


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.npz for the agent, graphs.npy and pointers.npy for the scorer."""
    import numpy as np

    train = {}
    for size in TRAINING_SIZES:
        train[f"A_{size}"], train[f"Pi_{size}"] = draw(size, TRAINING_GRAPHS, seed=size)
    np.savez(public / "train.npz", **train)
    graphs, pointers = draw(TEST_SIZE, TEST_GRAPHS, seed=20_221)
    np.save(private / "graphs.npy", graphs)
    np.save(private / "pointers.npy", pointers)


def draw(size: int, count: int, seed: int) -> tuple[Any, Any]:
    """Draw graphs of a size; give their weights and, for each pair of nodes, the predecessor."""
    import numpy as np

    with patch.dict(sys.modules, replace_frameworks()):
        from clrs._src import algorithms, samplers, specs

        name = "floyd_warshall"
        sampler = samplers.SAMPLERS[name](
            algorithms.floyd_warshall, specs.SPECS[name], -1, seed=seed, track_max_steps=False
        )
        graphs = [sampler._sample_data(size)[0] for _ in range(count)]
        pointers = [algorithms.floyd_warshall(graph)[0] for graph in graphs]
    return np.array(graphs, np.float32), np.array(pointers, np.int8)


def replace_frameworks() -> dict[str, ModuleType | MagicMock]:
    """Stand in for the frameworks that the package imports and that its samplers do not use.

    Sampler and algorithm are NumPy and plain Python. The package's own ``__init__`` is passed
    over: it would import the models, and with them TensorFlow, JAX and Haiku, 2.9 GB in all.
    """
    import importlib.util

    import numpy as np

    package = ModuleType("clrs")
    found = importlib.util.find_spec("clrs")
    assert found is not None
    package.__path__ = list(found.submodule_search_locations or ())
    jax = MagicMock(Array=np.ndarray)
    jax.tree_util.register_pytree_node_class = lambda datapoint: datapoint
    # "unsafe": chex has functions that are named assert_…
    others = {name: MagicMock(unsafe=True) for name in ("absl", "attr", "chex", "tensorflow")}
    return {"clrs": package, "jax": jax, "jax.numpy": jax.numpy, **others}
