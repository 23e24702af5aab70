"""The task on the speed of a convolution layer."""

from tests.tasks.bundled import BundledTask


class TestVectorization(BundledTask):
    name = "vectorization"
    has_answers = False  # inputs are drawn, and outputs computed, when a submission is scored
