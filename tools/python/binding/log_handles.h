// A log, and the handles that read and write it, in the form that Python holds.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_LOG_HANDLES_H_
#define CAIRN_TOOLS_PYTHON_BINDING_LOG_HANDLES_H_

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tools/python/binding/handles.h"

namespace cairn::python {

struct LogHandle {
  Context context;
  Log log;
};

struct LogSnapshotHandle {
  Context context;
  LogSnapshot snapshot;
};

struct LogWriterHandle {
  Context context;
  std::shared_ptr<CommitTimer> timer;  // null: the writer's own thread
  Fragile<LogWriter> writer;

  // Runs call(writer) without the GIL.
  template <typename Call>
  auto With(Call&& call) {
    return WithoutGil(context.remote, [&] { return writer.Use(call); });
  }
};

// Most age, records and bytes; most bytes and period.
using RetentionLimits = std::tuple<int64_t, int64_t, int64_t>;
using RotationLimits = std::pair<int64_t, int64_t>;

inline Retention ToRetention(const RetentionLimits& limits) {
  const auto& [age, records, bytes] = limits;
  return {.max_age = age, .max_records = records, .max_bytes = bytes};
}
inline Rotation ToRotation(const RotationLimits& limits) {
  return {.max_bytes = limits.first, .period = limits.second};
}

void BindLog(nanobind::module_& module);
void BindLogSnapshot(nanobind::module_& module);
void BindLogWriter(nanobind::module_& module);
void BindPlot(nanobind::module_& module);

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_LOG_HANDLES_H_
