// What one open frame works with, shared by its states and writers.
#ifndef CAIRN_ENGINE_FRAME_ENVIRONMENT_H_
#define CAIRN_ENGINE_FRAME_ENVIRONMENT_H_

#include <cstdint>
#include <optional>

#include "cairn/options.h"
#include "engine/chunk/workspace.h"
#include "engine/frame/replay_rules.h"

namespace cairn::frame {

// Immutable but for the pool, which is thread-safe.
struct Environment {
  bool use_mmap = true;
  VerifyPolicy verify = VerifyPolicy::kFirstTouch;
  std::optional<uint64_t> generation;  // the only one to be read
  Limits limits;
  int32_t max_mapped_files = 256;
  const Registry* registry = nullptr;
  Executor* executor = nullptr;
  ReplayRules replay;
  mutable chunk::WorkspacePool pool;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ENVIRONMENT_H_
