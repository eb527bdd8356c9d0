"""Writes results as tables in Markdown."""

import math

MOST_PLACES = 20


def number(value, digits=4):
    """Shows this many digits, and all before the point: 0.0297, 41.6, 9,440."""
    if value == 0:
        return "0"
    after = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    text = f"{value:,.{after}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def digits_of_contest(value):
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def amount(value, unit):
    """Shows what a contestant reached: "1.525 us", "11.2 GB/s"."""
    return f"{digits_of_contest(value)} {unit}"


def row_of(cells):
    return f"| {' | '.join(cells)} |\n"


def head_of(cells):
    return "\n" + row_of(cells) + row_of(["---"] * len(cells))


def contest_cell(score, unit):
    text = amount(score["value"], unit)
    if "ratio" in score:
        text += f" ({score['ratio']:.2f}x)"
    if "p99" in score:
        text += f", p99 {amount(score['p99'], unit)}"
    return text


def by_question(results):
    """A row for each question, a column for each contestant. Other contestants begin a new table."""
    text, head = "", None
    for result in results:
        names = ["question", *(score["name"] for score in result["scores"])]
        if names != head:
            text += head_of(names)
            head = names
        text += row_of([result["question"], *(contest_cell(score, result["unit"]) for score in result["scores"])])
    return text


def contestant_cell(score):
    if score is None:
        return ""
    text = number(score["value"])
    return f"{text}-{number(score['most'])}" if "most" in score else text


def title_of(result):
    return f"{result['question']}, {result['unit']}" if result["unit"] else result["question"]


def by_contestant(results):
    """A row for each contestant, a column for each question. Each group has a table."""
    text = ""
    for group in dict.fromkeys(result.get("group") for result in results):
        members = [result for result in results if result.get("group") == group]
        if group is not None:
            text += f"\n{group}\n"
        text += head_of(["store", *map(title_of, members)])
        columns = [{score["name"]: score for score in result["scores"]} for result in members]
        for name in dict.fromkeys(name for column in columns for name in column):
            text += row_of([name, *(contestant_cell(column.get(name)) for column in columns)])
    return text


def growth_table(growth):
    """A row for each curve, a column for each place on the x axis; nothing where only a picture can show it."""
    curves = [(curve["name"], dict(map(tuple, curve["points"]))) for curve in growth["curves"]]
    places = sorted({x for _, points in curves for x in points})
    if len(places) > MOST_PLACES:
        return ""
    text = f"\n{growth['question']}\n" + head_of([f"{growth['y']} by {growth['x']}", *map(number_of_place, places)])
    for name, points in curves:
        text += row_of([name, *(number(points[x]) if x in points else "" for x in places)])
    return text


def number_of_place(value):
    return number(value, 12)


def tables(data):
    """Returns all tables of one command."""
    shown = by_contestant if data.get("rows") == "contestants" else by_question
    return (shown(data["results"]) + "".join(map(growth_table, data["growth"]))).lstrip("\n")
