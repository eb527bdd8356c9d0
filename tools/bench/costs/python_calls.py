"""The commonest calls of the Python package, each done some times for callgrind to count.

python_calls.py SWITCH [OPERATION FOLDER]; SWITCH is the library of switch.cc. Without an operation it
names them all, as cairn-costs does.
"""

import ctypes
import sys

import cairn
import numpy as np

TIMES = 200


def line(folder):
    items = np.arange(1 << 18, dtype="<f8")
    return cairn.asarray(items, f"{folder}/line.b2nd", chunks=(1 << 14,), blocks=(1 << 9,))


def square(folder):
    return cairn.asarray(np.arange(10**6, dtype="<i4").reshape(1000, 1000), f"{folder}/square.b2nd",
                         chunks=(100, 100), blocks=(50, 50))  # fmt: skip


def appended(folder):
    return cairn.create(f"{folder}/appended.b2frame", dtype="<f8", chunks=1 << 9)


def read_item(frame, number):
    return frame[number * 7919 % (1 << 18)]


def read_slice(frame, number):
    start = number * 7919 % (1 << 17)
    return frame[start : start + 1000]


def read_box(frame, number):
    start = number * 79 % 900
    return frame[start : start + 10, start : start + 10]


def gather(frame, number):
    return frame[(np.arange(100) * 7919 + number) % (1 << 18)]


def append(frame, number):
    return frame.append(np.arange(number, number + 512, dtype="<f8"))


OPERATIONS = {
    "Python: an item": (line, read_item),
    "Python: 1,000 items": (line, read_slice),
    "Python: gather of 100 items": (line, gather),
    "Python: box of 10 x 10": (square, read_box),
    "Python: append and commit durably": (appended, append),
}


def main():
    switch = ctypes.CDLL(sys.argv[1])
    if len(sys.argv) == 2:
        print("\n".join(f"{TIMES}\t{name}" for name in OPERATIONS))
        return
    prepare, step = OPERATIONS[sys.argv[2]]
    frame = prepare(sys.argv[3])
    step(frame, 0)
    switch.cairn_costs_begin()
    for number in range(1, TIMES + 1):
        step(frame, number)
    switch.cairn_costs_end()


if __name__ == "__main__":
    main()
