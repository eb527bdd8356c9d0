"""Draws results as SVG with matplotlib: bars for questions, lines for growths."""

import io
import itertools
import re
import textwrap

import matplotlib

matplotlib.use("svg")
from matplotlib import colors, pyplot, ticker  # noqa: E402

from drawing.tables import digits_of_contest, number  # noqa: E402

# The colour of each engine in all pictures, by what its name begins with. The first seven are those of
# Okabe and Ito, which the colour-blind can distinguish.
COLOURS = {
    "cairn": "#0072b2",
    "c-blosc2": "#e69f00",
    "python-blosc2": "#e69f00",
    "lmdb": "#009e73",
    "rocksdb": "#cc79a7",
    "sqlite": "#56b4e9",
    "hdf5": "#d55e00",
    "h5py": "#d55e00",
    "limit": "#8c8c8c",
    "parquet": "#7b4fa3",
    "duckdb": "#b8a000",
    "influxdb": "#8b4513",
    "zarr": "#5c4d44",
    "icechunk": "#88aa44",
}
UNITS = {"us": "µs"}
MOST_BARS = 24  # more questions than a reader looks through: the table has them
MOST_CURVES = 8  # more cannot be told apart: the table has them
WIDE = 20  # from this ratio between the largest and the smallest value on, the axis is logarithmic
# The lines of one engine in a picture: stroke, mark, and what its colour is mixed with.
STYLES = [("-", "o", None), ((0, (4, 2)), "s", "black"), ((0, (1, 1)), "^", None), ((0, (6, 2, 1, 2)), "D", "black")]

# Text stays text, in whatever sans-serif font is there; the layout is for DejaVu Sans, one of the widest,
# so that no other is clipped. Without salt and date the same data give the same file.
SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cairn",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#777777",
    "axes.grid": True,
    "axes.axisbelow": True,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "grid.color": "#e4e4e4",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "legend.frameon": False,
}


def colour_of(name):
    """Returns Cairn's colour for other names, which are of something of its own: a file, a way to read."""
    return next((colour for start, colour in COLOURS.items() if name.lower().startswith(start)), COLOURS["cairn"])


def is_wide(values):
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) >= WIDE * min(positive)


def short(value, _position=None):
    """Shows the tick of an axis: 0.5, 10, 10k, 10M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{number(value / size)}{letter}"
    return number(value)


def scale(axis, log, low, high):
    """Sets the ticks of an axis, and marks it where it is logarithmic. Returns what its label says of that."""
    if log:
        # Where there are few powers of ten, there are ticks between them, too.
        steps = (1, 2, 5) if high / low < 150 else (1, 3) if high / low < 1500 else (1,)
        axis.set_major_locator(ticker.LogLocator(subs=steps, numticks=20))
        axis.set_minor_locator(ticker.NullLocator())
    else:
        axis.set_major_locator(ticker.MaxNLocator(5))
    axis.set_major_formatter(ticker.FuncFormatter(short))
    return ", log scale" if log else ""


def wrapped(text, width):
    return "\n".join(textwrap.wrap(text, width))


def in_short(what):
    return what.replace("microseconds", "µs").replace("milliseconds", "ms").rstrip(",")


def mixed(colour, other):
    if other is None:
        return colour
    return colors.to_hex([(3 * one + 2 * two) / 5 for one, two in zip(colors.to_rgb(colour), colors.to_rgb(other))])


def label_of(score):
    if "ratio" in score:
        return f"{digits_of_contest(score['value'])} ({score['ratio']:.2f}x)"
    return number(score["value"]) + (f"-{number(score['most'])}" if "most" in score else "")


def title(axis, text, width):
    axis.set_title(wrapped(text, width), loc="left")


def draw_bars(axis, result, room, width, named):
    """A bar for each contestant; a point instead on a logarithmic axis, where lengths mean nothing. There is
    room for so many."""
    names = [score["name"] for score in result["scores"]]
    values = [score["value"] for score in result["scores"]]
    colours = [colour_of(name) for name in names]
    rows = range(len(names))
    log = is_wide(values)
    if log:
        low = min(values) / 2
        high = low * (max(values) / low) ** 1.5
        axis.set_xscale("log")
        axis.hlines(rows, low, values, colors=colours, linewidth=1, alpha=0.5)
        axis.scatter(values, rows, c=colours, s=42, zorder=3)
    else:
        low, high = 0, max(values) * 1.62
        axis.barh(rows, values, color=colours, height=0.66)
    for row, score in enumerate(result["scores"]):
        place = (score["value"], row)
        axis.annotate(label_of(score), place, (7 if log else 4, 0), textcoords="offset points", va="center")
    axis.set_xlim(low, high)
    axis.set_yticks(rows, [wrapped(name, 44) for name in names] if named else [""] * len(names))
    axis.set_ylim(room - 0.4, -0.6)
    axis.grid(visible=False, axis="y")
    marked = scale(axis.xaxis, log, low, high)
    unit = UNITS.get(result["unit"], result["unit"]) or result["question"]
    axis.set_xlabel(f"{unit}{marked} ({result['better']} is better)")
    group = result.get("group")
    title(axis, result["question"] if group is None else f"{group}: {result['question']}", width)


def draw_curves(axis, growth, width):
    """A line for each curve. Lines of one engine share its colour and differ in their strokes."""
    points = [point for curve in growth["curves"] for point in curve["points"]]
    log_x = is_wide([x for x, _ in points]) and min(x for x, _ in points) > 0
    log_y = is_wide([y for _, y in points])
    if log_x:
        axis.set_xscale("log")
    if log_y:
        axis.set_yscale("log")
    drawn = {}
    for curve in growth["curves"]:
        colour = colour_of(curve["name"])
        stroke, marker, shade = STYLES[drawn.setdefault(colour, 0) % len(STYLES)]
        drawn[colour] += 1
        pairs = [(x, y) for x, y in curve["points"] if y > 0 or not log_y]
        few = len(pairs) <= 20
        axis.plot(*zip(*pairs), color=mixed(colour, shade), linestyle=stroke, marker=marker if few else None,
                  markersize=4, linewidth=1.6, label=wrapped(curve["name"], 26))  # fmt: skip
    marked = scale(axis.xaxis, log_x, *axis.get_xlim())
    axis.set_xlabel(in_short(growth["x"]) + marked)
    if not log_y:
        axis.set_ylim(0, max(y for _, y in points) * 1.08)
    marked = scale(axis.yaxis, log_y, *axis.get_ylim())
    if log_y and min(y for _, y in points) <= 0:
        marked += ", zeros left out"
    axis.set_ylabel(wrapped(in_short(growth["y"]) + marked, 40))
    if len(growth["curves"]) > 1:
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, handlelength=3)
    title(axis, f"{growth['question']} (lower is better)", width)


def draw(data, path):
    """Draws what can be compared: questions with two contestants unless they are many, growths of two points.
    Returns False if there is nothing."""
    bars = [result for result in data["results"] if len(result["scores"]) > 1]
    bars = bars if len(bars) <= MOST_BARS else []
    growths = [growth for growth in data["growth"] if len(growth["curves"]) <= MOST_CURVES
               and any(len(curve["points"]) > 1 for curve in growth["curves"])]  # fmt: skip
    if not bars and not growths:
        return False
    groups = [list(group) for _, group in itertools.groupby(bars, lambda result: result.get("group"))]
    columns = 1 if len(bars) <= 1 else 2 if len(bars) <= 4 or len(bars) > 9 and len(groups) == 1 else 3
    lines = cut(groups, columns)
    alike = all(names_of(result) == names_of(line[0]) for line in lines for result in line)
    if not alike and max(len(result["question"]) for result in bars) > 30:
        columns = 1  # names between the columns leave no room for such titles
        lines = cut(groups, columns)
    rooms = [max(len(result["scores"]) for result in line) for line in lines]
    heights = [0.95 + 0.24 * room for room in rooms]
    parts = ([sum(heights)] if bars else []) + [2.9] * len(growths)
    with pyplot.rc_context(SETTINGS):
        figure = pyplot.figure(figsize=(11.5 if columns == 3 else 9.5, sum(parts)), layout="constrained")
        figures = figure.subfigures(len(parts), 1, height_ratios=parts, squeeze=False)[:, 0].tolist()
        if bars:
            grid = figures[0].add_gridspec(len(lines), columns, height_ratios=heights)
            width = {1: 100, 2: 54, 3: 44}[columns]
            for row, line in enumerate(lines):
                for column, result in enumerate(line):
                    named = column == 0 or names_of(result) != names_of(line[0])
                    draw_bars(figures[0].add_subplot(grid[row, column]), result, rooms[row], width, named)
        for part, growth in zip(figures[len(figures) - len(growths) :], growths):
            draw_curves(part.add_subplot(), growth, 90)
        figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
        file = io.StringIO()
        figure.savefig(file, metadata={"Date": None})
        pyplot.close(figure)
    with open(path, "w", encoding="utf-8") as svg:
        svg.write(shrunk(file.getvalue()))
    return True


def cut(groups, columns):
    """Returns the lines of a grid. Each group begins a line."""
    return [group[at : at + columns] for group in groups for at in range(0, len(group), columns)]


def names_of(result):
    return [score["name"] for score in result["scores"]]


def hundredths(found):
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".")


def shrunk(svg):
    """Returns the same picture in half the bytes: hundredths of a point, no names of groups, one font."""

    def shrink(tag):
        text = " ".join(re.sub(r"-?\d+\.\d{3,}", hundredths, tag[0]).split()).replace('z "', 'z"')
        if text.startswith(("<g ", "<text ")):
            text = re.sub(r' id="[^"]*"| transform="rotate\(-0 [^"]*"', "", text)
        text = re.sub(r"font-size: 9px; |font-family: 'DejaVu Sans'; |(?:; )?font-family: 'DejaVu Sans'(?=\")", "", text)
        return text.replace(' style=""', "")

    svg = re.sub(r"<[^>]*>", shrink, svg)
    svg = svg.replace("*{", "*{font: 9px 'DejaVu Sans', sans-serif; ")
    svg = re.sub(r"\n +", "\n", svg)
    for default in ('style="text-anchor: start" ', " stroke-linejoin: miter;"):
        svg = svg.replace(default, "")
    svg = re.sub(r'<g (clip-path="[^"]*")>\n<use ([^\n]*)/>\n</g>', r"<use \1 \2/>", svg)
    return without_groups(svg)


def without_groups(svg):
    """Returns the picture without the groups that say nothing of what is in them. Each tag has a line."""
    kept, groups = [], []
    for line in svg.split("\n"):
        if line.startswith("<g") and not line.endswith("/>"):
            groups.append(line == "<g>")
        is_plain = groups.pop() if line == "</g>" else line == "<g>"
        if line and line != "<g/>" and not is_plain:
            kept.append(line)
    return "\n".join(kept) + "\n"
