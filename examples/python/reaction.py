"""Draws the Gray-Scott reaction: two substances that diffuse, one of which feeds on the other.

    pip install kiln-opencl matplotlib
    python reaction.py picture.png
"""

import argparse

import kiln
import matplotlib
import numpy

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

SOURCE = """
/* The sum of the differences to the neighbors. The field wraps around at its edges. */
static float spread(global const float *field, int x, int y, int size)
{
    int left = (x + size - 1) % size, right = (x + 1) % size;
    int above = (y + size - 1) % size * size, below = (y + 1) % size * size, here = y * size;
    return 0.2f * (field[here + left] + field[here + right] + field[above + x] + field[below + x])
        + 0.05f * (field[above + left] + field[above + right] + field[below + left] + field[below + right])
        - field[here + x];
}

kernel void step(global const float *u, global const float *v, global float *next_u, global float *next_v, float feed, float kill)
{
    int x = get_global_id(0), y = get_global_id(1), size = get_global_size(0), i = y * size + x;
    float eaten = u[i] * v[i] * v[i];
    next_u[i] = u[i] + spread(u, x, y, size) - eaten + feed * (1 - u[i]);
    next_v[i] = v[i] + 0.5f * spread(v, x, y, size) + eaten - (feed + kill) * v[i];
}
"""


def simulate(size: int, steps: int, feed: float, kill: float) -> numpy.ndarray:
    """The second substance after some steps."""
    u, v = numpy.ones((size, size), numpy.float32), numpy.zeros((size, size), numpy.float32)
    random = numpy.random.default_rng(1)
    for x, y in random.integers(0, size - 8, (size // 8, 2)):
        v[y : y + 8, x : x + 8] = 0.5
    step = kiln.Kernel(SOURCE)
    # The fields stay on the device. Each step reads one pair and writes the other.
    now, then = [kiln.Buffer(u), kiln.Buffer(v)], [kiln.Buffer(u), kiln.Buffer(v)]
    for _ in range(steps):
        step(*now, *then, feed, kill, global_size=(size, size))
        now, then = then, now
    return now[1].read()


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws the Gray-Scott reaction.")
    parser.add_argument("picture", help="the file to write")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--steps", type=int, default=4000)
    arguments = parser.parse_args()
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 5), layout="constrained")
    for plot, (name, feed, kill) in zip(axes, [("coral", 0.0545, 0.062), ("spots", 0.03, 0.062)]):
        plot.imshow(simulate(arguments.size, arguments.steps, feed, kill), cmap="magma")
        plot.set_title(f"{name}: feed {feed}, kill {kill}")
        plot.set_axis_off()
    figure.suptitle(f"Gray-Scott, {arguments.steps} steps, on {kiln.devices()[0].name}")
    figure.savefig(arguments.picture, dpi=100)


if __name__ == "__main__":
    main()
