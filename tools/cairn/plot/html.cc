#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "tools/cairn/plot/render.h"
#include "tools/cairn/text/json.h"

namespace cairn::tool {

namespace {

// Draws the panels again for the times from `b` to `e`, which count from the figure's beginning.
constexpr std::string_view kScript = R"js(
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const svg = document.querySelector('svg'), tip = document.getElementById('tip');
const groups = [...document.querySelectorAll('.panel')];
let b = 0, e = data.length;
const make = (name, attributes, text) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
};
const roundUp = step => {
  const power = 10 ** Math.floor(Math.log10(step));
  return ([1, 2, 5].find(f => f * power >= step * (1 - 1e-9)) ?? 10) * power;
};
const multiples = (low, high, step) => {
  const all = [];
  for (let n = Math.ceil(low / step); n * step <= high && all.length < 50; ++n) all.push(n * step);
  return all;
};
const numberLabel = (value, step) => {
  const size = Math.abs(value);
  if (size < step * 1e-6) return '0';
  if (size >= 1e7 || size < 1e-4) return String(Number(value.toPrecision(6)));
  return value.toFixed(Math.max(0, Math.min(20, Math.ceil(-Math.log10(step) - 1e-9))));
};
const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
const steps = [1, 2, 5, 10, 15, 30].map(s => s * second).concat([1, 2, 5, 10, 15, 30].map(m => m * minute),
  [1, 2, 3, 6, 12].map(h => h * hour), [1, 2, 3, 7, 14].map(d => d * day));
const iso = t => { try { return new Date(t).toISOString(); } catch { return String(t); } };
// Ticks as [time, label, what is below it], of times in milliseconds.
const timeTicks = (low, high, most) => {
  const least = (high - low) / most, ticks = [];
  let before = '';
  const add = (t, label, more) => { ticks.push([t, label, more === before ? '' : more]); before = more; };
  if (least > 14 * day) {
    const months = [1, 3, 6].find(m => m * 30.4 * day >= least) ?? 12 * roundUp(least / (365 * day));
    const first = new Date(low), n = first.getUTCFullYear() * 12 + first.getUTCMonth();
    for (let m = Math.floor(n / months) * months; ticks.length < 50; m += months) {
      const t = new Date(0);
      t.setUTCFullYear(Math.floor(m / 12), m % 12, 1);
      if (!(t.getTime() <= high)) break;
      if (t.getTime() >= low) add(t.getTime(), iso(t).slice(0, months < 12 ? 7 : 4), '');
    }
    return ticks;
  }
  const step = steps.find(s => s >= least && least >= 500) ?? roundUp(least);
  for (const t of multiples(low, high, step)) {
    const text = iso(t);
    if (step >= day) add(t, text.slice(5, 10), text.slice(0, 4));
    else if (step >= 1) add(t, step >= minute ? text.slice(11, 16) : step >= second ? text.slice(11, 19) : text.slice(11, 23), text.slice(0, 10));
    else add(t, text.slice(11, 23) + String(Math.round((t - Math.floor(t)) * 1e6)).padStart(6, '0'), text.slice(0, 10));
  }
  return ticks;
};
// Plain numbers may be greater than the integers that a Number can tell apart.
const plainTicks = () => {
  const step = BigInt(Math.max(1, roundUp((e - b) / 8))), first = BigInt(data.begin), ticks = [];
  let t = first + BigInt(Math.ceil(b));
  for (t += (step - t % step) % step; t <= first + BigInt(Math.floor(e)); t += step) ticks.push([Number(t - first), String(t), '']);
  return ticks;
};
const xTicks = () => data.ms
  ? timeTicks(data.begin + b * data.ms, data.begin + e * data.ms, 9).map(([t, ...more]) => [(t - data.begin) / data.ms, ...more])
  : plainTicks();
const timeText = t => data.ms ? iso(data.begin + t * data.ms).replace('T', ' ') : String(BigInt(data.begin) + BigInt(Math.round(t)));
const lowerBound = (times, t) => {
  let low = 0, high = times.length;
  while (low < high) { const middle = (low + high) >> 1; if (times[middle] < t) low = middle + 1; else high = middle; }
  return low;
};
// The points of a series in view, and one on each side; those of one pixel are one.
const pointsOf = (series, width) => {
  const from = Math.max(0, lowerBound(series.t, b) - 1), to = Math.min(series.t.length, lowerBound(series.t, e) + 1);
  const size = (e - b) / width, points = [];
  for (let i = from; i < to; ++i) {
    const last = points[points.length - 1], column = Math.floor(series.t[i] / size);
    const min = series.min ? series.min[i] : series.mean[i], max = series.max ? series.max[i] : series.mean[i];
    if (last && last.column === column) {
      last.mean = (last.mean * last.n + series.mean[i]) / ++last.n;
      last.min = Math.min(last.min, min);
      last.max = Math.max(last.max, max);
    } else {
      points.push({column, t: series.t[i], mean: series.mean[i], min, max, n: 1, gap: i > 0 && series.t[i] - series.t[i - 1] > series.gap});
    }
  }
  return points;
};
const draw = () => {
  const ticks = xTicks();
  data.panels.forEach((panel, p) => {
    const {x, y, width, height} = panel, group = groups[p];
    const all = panel.series.map(series => pointsOf(series, width));
    let low = Infinity, high = -Infinity;
    for (const points of all) for (const point of points) { low = Math.min(low, point.min); high = Math.max(high, point.max); }
    if (low > high) [low, high] = [0, 1];
    const margin = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
    low -= margin;
    high += margin;
    const X = t => x + (t - b) / (e - b) * width, Y = v => y + (1 - (v - low) / (high - low)) * height;
    const step = roundUp((high - low) / Math.max(4, Math.floor(height / 36)));
    group.querySelector('.yticks').replaceChildren(...multiples(low, high, step).flatMap(v => [
      make('line', {class: 'grid', x1: x, x2: x + width, y1: Y(v), y2: Y(v)}),
      make('text', {x: x - 8, y: Y(v) + 4, 'text-anchor': 'end'}, numberLabel(v, step))]));
    const last = p + 1 === data.panels.length;
    group.querySelector('.xticks').replaceChildren(...ticks.flatMap(([t, label, more]) => [
      make('line', {class: 'grid', x1: X(t), x2: X(t), y1: y, y2: y + height}),
      ...(last ? [make('text', {x: X(t), y: y + height + 18, 'text-anchor': 'middle'}, label),
        make('text', {class: 'more', x: X(t), y: y + height + 34, 'text-anchor': 'middle'}, more)] : [])]));
    const lines = group.querySelectorAll('.line'), bands = group.querySelectorAll('.band');
    all.forEach((points, s) => {
      const at = (t, v) => X(t).toFixed(1) + ' ' + Y(v).toFixed(1);
      let line = '', band = '', back = '';
      const close = () => { if (band) band += back + 'Z'; back = ''; };
      for (const point of points) {
        const begins = line === '' || point.gap;
        if (begins) close();
        line += (begins ? 'M' : 'L') + at(point.t, point.mean) + (begins ? 'h.01' : '');
        band += (begins ? 'M' : 'L') + at(point.t, point.max);
        back = 'L' + at(point.t, point.min) + back;
      }
      close();
      lines[s].setAttribute('d', line);
      bands[s].setAttribute('d', band);
    });
  });
};
// Shows never more than the whole figure, and never so little that all times are equal.
const show = (begin, end) => {
  const size = Math.min(Math.max(end - begin, data.length * 1e-6, 2), data.length);
  b = Math.min(Math.max(begin, 0), data.length - size);
  e = b + size;
  draw();
};
const place = event => {
  const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
  return {x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale};
};
const {x: left, width: plotWidth} = data.panels[0];
const timeAt = event => b + (place(event).x - left) / plotWidth * (e - b);
svg.addEventListener('wheel', event => {
  event.preventDefault();
  const t = timeAt(event), factor = Math.exp(event.deltaY * 0.002);
  show(t - (t - b) * factor, t + (e - t) * factor);
}, {passive: false});
const held = new Map();
svg.addEventListener('pointerdown', event => { held.set(event.pointerId, timeAt(event)); svg.setPointerCapture(event.pointerId); });
for (const name of ['pointerup', 'pointercancel']) svg.addEventListener(name, event => held.delete(event.pointerId));
svg.addEventListener('pointermove', event => {
  if (held.size === 1) {
    const moved = held.values().next().value - timeAt(event);
    show(b + moved, e + moved);
  }
  hover(event);
});
svg.addEventListener('dblclick', () => show(0, data.length));
document.getElementById('all').addEventListener('click', () => show(0, data.length));
document.addEventListener('keydown', event => {
  const size = e - b, moves = {ArrowLeft: [-0.2, -0.2], ArrowRight: [0.2, 0.2], '+': [0.2, -0.2], '-': [-0.3, 0.3]}[event.key];
  if (moves) show(b + moves[0] * size, e + moves[1] * size);
});
const cross = svg.appendChild(make('line', {stroke: '#999', 'stroke-dasharray': '3 3', visibility: 'hidden', 'pointer-events': 'none'}));
const hover = event => {
  const {x, y} = place(event), panel = data.panels.find(p => x >= p.x && x <= p.x + p.width && y >= p.y && y <= p.y + p.height);
  tip.hidden = !panel;
  cross.setAttribute('visibility', panel ? 'visible' : 'hidden');
  if (!panel) return;
  const t = timeAt(event), rows = [];
  let nearest = t;
  for (const series of panel.series) {
    let i = lowerBound(series.t, t);
    if (i > 0 && (i === series.t.length || t - series.t[i - 1] < series.t[i] - t)) --i;
    if (series.t.length === 0) continue;
    nearest = series.t[i];
    const text = v => Number(v.toPrecision(6));
    rows.push(`${series.name}: ${text(series.mean[i])}` + (series.min ? ` (${text(series.min[i])} to ${text(series.max[i])})` : ''));
  }
  const at = left + (nearest - b) / (e - b) * plotWidth;
  for (const [key, value] of Object.entries({x1: at, x2: at, y1: panel.y, y2: panel.y + panel.height})) cross.setAttribute(key, value);
  tip.textContent = [timeText(nearest), ...rows].join('\n');
  tip.style.left = Math.min(event.pageX + 16, window.innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = event.pageY + 16 + 'px';
};
svg.addEventListener('pointerleave', () => { tip.hidden = true; cross.setAttribute('visibility', 'hidden'); });
draw();
)js";

constexpr std::string_view kPageStyle = R"(<style>
body{margin:16px auto;max-width:1200px;font:13px system-ui,"DejaVu Sans",sans-serif;color:#333;background:#fff}
svg{width:100%;height:auto;touch-action:none;cursor:crosshair;user-select:none}
p{margin:0 8px;color:#777}
button{font:inherit;margin-left:8px}
#tip{position:absolute;white-space:pre;background:#fffffff0;border:1px solid #bbb;border-radius:4px;padding:4px 8px;pointer-events:none}
</style>
)";

Json TimesOf(const Series& series, int64_t begin) {
  Json times = Json::array();
  for (const PlotPoint& point : series.points) {
    times.push_back(static_cast<uint64_t>(point.time) - static_cast<uint64_t>(begin));
  }
  return times;
}

// Returns the values with as many digits as can be seen however far a reader zooms in.
Json ValuesOf(const Series& series, double PlotPoint::*value) {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -least;
  for (const PlotPoint& point : series.points) {
    least = std::min(least, point.min);
    greatest = std::max(greatest, point.max);
  }
  const double extent = greatest - least;
  const double unit = extent > 0 ? std::pow(10, 6 - std::ceil(std::log10(extent))) : 0;
  Json values = Json::array();
  for (const PlotPoint& point : series.points) {
    const double rounded = std::round(point.*value * unit) / unit;
    values.push_back(std::isfinite(rounded) ? rounded : point.*value);
  }
  return values;
}

// Returns the distance over which no line is drawn: the least between two of its runs.
uint64_t GapOf(const Series& series) {
  uint64_t least = UINT64_MAX;
  const std::vector<PointRun> runs = RunsOf(series.points);
  for (size_t i = 1; i < runs.size(); ++i) {
    const auto time = [&series](size_t point) {
      return static_cast<uint64_t>(series.points[point].time);
    };
    least = std::min(least, time(runs[i].begin) - time(runs[i].begin - 1));
  }
  return least - 1;
}

Json JsonOfSeries(const Figure& figure, size_t number) {
  const Series& series = figure.series[number];
  Json json = {{"name", LabelOf(series)},
               {"t", TimesOf(series, figure.begin)},
               {"mean", ValuesOf(series, &PlotPoint::mean)},
               {"gap", GapOf(series)}};
  const bool single = std::ranges::all_of(
      series.points, [](const PlotPoint& point) { return point.min == point.max; });
  if (single) return json;
  json["min"] = ValuesOf(series, &PlotPoint::min);
  json["max"] = ValuesOf(series, &PlotPoint::max);
  return json;
}

Json JsonOfFigure(const Figure& figure) {
  Json panels = Json::array();
  const std::vector<Panel> made = MakePanels(figure);
  const std::vector<PanelBox> boxes = LayOut(made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    Json series = Json::array();
    for (const size_t number : made[i].series) series.push_back(JsonOfSeries(figure, number));
    panels.push_back({{"x", boxes[i].x},
                      {"y", boxes[i].y},
                      {"width", boxes[i].width},
                      {"height", boxes[i].height},
                      {"series", std::move(series)}});
  }
  // Milliseconds of a unit of time. Plain numbers have none.
  const double ms = figure.unit ? 1000.0 / static_cast<double>(UnitsPerSecond(*figure.unit)) : 0;
  const Json begin =
      figure.unit ? Json(static_cast<double>(figure.begin) * ms) : Json(absl::StrCat(figure.begin));
  return {{"ms", ms},
          {"begin", begin},
          {"length", static_cast<uint64_t>(figure.end) - static_cast<uint64_t>(figure.begin)},
          {"panels", std::move(panels)}};
}

}  // namespace

std::string RenderHtml(const Figure& figure) {
  // No text of the figure may end the element that it is in.
  const std::string json =
      absl::StrReplaceAll(Dump(JsonOfFigure(figure), -1), {{"<", "\\u003c"}, {"&", "\\u0026"}});
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>",
      EscapeXml(figure.title), "</title>\n", std::string(kPageStyle), RenderSvg(figure),
      "<p>Wheel or +/- zooms, dragging or arrows move, a double click shows "
      "everything.<button id=\"all\">All</button></p>\n<div id=\"tip\" hidden></div>\n"
      "<script type=\"application/json\" id=\"data\">",
      json, "</script>\n<script>", std::string(kScript), "</script>\n</html>\n");
}

}  // namespace cairn::tool
