"""A convolution layer as one matrix product for each place in the filters."""

import numpy as np


def convolve(images, filters, bias):
    """Apply every filter to every image and add the filter's bias; the forward pass.

    ``images`` is (batch, height, width, channels), ``filters`` (size, size, channels, count) with
    an odd size, ``bias`` (count,). The borders are padded with zeros, so that the output is
    (batch, height, width, count). All arrays are float64.
    """
    batch, height, width, _ = images.shape
    size, _, _, count = filters.shape
    border = size // 2
    padded = np.pad(images, ((0, 0), (border, border), (border, border), (0, 0)))
    output = np.empty((batch, height, width, count))
    output[:] = bias
    for row in range(size):
        for column in range(size):
            shifted = padded[:, row : row + height, column : column + width]
            output += shifted @ filters[row, column]
    return output
