#include "cairn/verify.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "cairn/cairn.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

namespace cairn::c_api {

namespace {

// Verifies a snapshot of a frame or of a collection.
template <typename Checked>
absl::Status VerifyWith(const Checked& checked, const cairn_verify_options* options,
                        cairn_verify_report* report) {
  CAIRN_RETURN_IF_ERROR(CheckStruct(report, "report"));
  constexpr cairn_verify_options kDefaults = CAIRN_VERIFY_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_verify_options given,
                         ReadStruct(options, kDefaults, "verify options"));
  CAIRN_ASSIGN_OR_RETURN(const VerifyDepth depth, ToEnum(given.depth, VerifyDepth::kStructure,
                                                         VerifyDepth::kContents, "depth"));
  const VerifyOptions verify = {.depth = depth,
                                .progress = ToFunction(given.progress, given.context)};
  CAIRN_ASSIGN_OR_RETURN(const VerifyReport found, checked.Verify(verify));
  if (given.on_finding != nullptr) {
    for (const Finding& damage : found.findings) {
      const cairn_finding finding = {.struct_size = sizeof(cairn_finding),
                                     .begin = damage.begin,
                                     .end = damage.end,
                                     .section = damage.section.c_str(),
                                     .reason = damage.reason.c_str()};
      given.on_finding(given.context, &finding);
    }
  }
  if (given.on_note != nullptr) {
    for (const std::string& note : found.notes) given.on_note(given.context, note.c_str());
  }
  const cairn_verify_report result = {
      .struct_size = sizeof(cairn_verify_report),
      .nchunks = found.nchunks,
      .bytes_read = found.bytes_read,
      .nfindings = static_cast<int64_t>(found.findings.size()) + found.omitted,
      .sealed = found.sealed};
  WriteStruct(result, report);
  return absl::OkStatus();
}

}  // namespace

}  // namespace cairn::c_api

cairn_code cairn_snapshot_verify(const cairn_snapshot* snapshot,
                                 const cairn_verify_options* options, cairn_verify_report* report,
                                 cairn_status* status) {
  return cairn::c_api::Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    return cairn::c_api::VerifyWith(snapshot->snapshot, options, report);
  });
}

cairn_code cairn_collection_snapshot_verify(const cairn_collection_snapshot* snapshot,
                                            const cairn_verify_options* options,
                                            cairn_verify_report* report, cairn_status* status) {
  return cairn::c_api::Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    return cairn::c_api::VerifyWith(snapshot->snapshot, options, report);
  });
}
