// Metrics: numbers about frames and logs in the text format that Prometheus scrapes.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_METRICS_H_
#define CAIRN_TOOLS_CAIRN_REPORT_METRICS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::tool {

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

// Collects gauges of several frames or logs. The format wants all values of a metric together.
class Metrics {
 public:
  // Adds a value. `name` follows "cairn_"; `help` says what it is, with its unit. The names and
  // helps must be literals.
  void Add(std::string_view name, std::string_view help, const MetricLabels& labels, double value);

  // Returns the metrics in the order of their first values.
  std::string Text() const;

 private:
  struct Metric {
    std::string_view name;
    std::string_view help;
    std::string samples;  // a line for each value
  };

  std::vector<Metric> metrics_;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_METRICS_H_
