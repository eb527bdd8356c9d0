#include "tools/cairn/report/metrics.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

#include "tools/cairn/text/json.h"

namespace cairn::tool {

namespace {

// The format takes UTF-8 only, which a path need not be.
std::string Quoted(const std::string& value) {
  const std::string text = IsUtf8(value) ? value : absl::CEscape(value);
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

// Returns the fewest digits that read as the number.
std::string Digits(double value) {
  constexpr int kAlwaysEnough = 17;
  for (int digits = 15; digits < kAlwaysEnough; ++digits) {
    const std::string text = absl::StrFormat("%.*g", digits, value);
    double read = 0;
    if (absl::SimpleAtod(text, &read) && read == value) return text;
  }
  return absl::StrFormat("%.*g", kAlwaysEnough, value);
}

std::string TextOfLabels(const MetricLabels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    absl::StrAppendFormat(&text, "%s%s=\"%s\"", text.empty() ? "" : ",", name, Quoted(value));
  }
  return text;
}

}  // namespace

void Metrics::Add(std::string_view name, std::string_view help, const MetricLabels& labels,
                  double value) {
  auto metric = std::ranges::find(metrics_, name, &Metric::name);
  if (metric == metrics_.end()) {
    metric = metrics_.insert(metric, {.name = name, .help = help, .samples = {}});
  }
  absl::StrAppendFormat(&metric->samples, "cairn_%s{%s} %s\n", name, TextOfLabels(labels),
                        Digits(value));
}

std::string Metrics::Text() const {
  std::string text;
  for (const Metric& metric : metrics_) {
    absl::StrAppendFormat(&text, "# HELP cairn_%s %s\n# TYPE cairn_%s gauge\n%s", metric.name,
                          metric.help, metric.name, metric.samples);
  }
  return text;
}

}  // namespace cairn::tool
