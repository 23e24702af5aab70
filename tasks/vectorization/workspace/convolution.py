"""A convolution layer, written the way one would explain it."""

import numpy as np


def convolve(images, filters, bias):
    """Slide every filter over every image and add the filter's bias; the forward pass.

    ``images`` is (batch, height, width, channels), ``filters`` (size, size, channels, count) with
    an odd size, ``bias`` (count,). The borders are padded with zeros, so that the output is
    (batch, height, width, count). All arrays are float64.
    """
    batch, height, width, _ = images.shape
    size, _, _, count = filters.shape
    border = size // 2
    padded = np.pad(images, ((0, 0), (border, border), (border, border), (0, 0)))
    output = np.zeros((batch, height, width, count))
    for image in range(batch):
        for row in range(height):
            for column in range(width):
                for number in range(count):
                    patch = padded[image, row : row + size, column : column + size]
                    total = np.sum(patch * filters[:, :, :, number])
                    output[image, row, column, number] = total + bias[number]
    return output
