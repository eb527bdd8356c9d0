#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

#include "cairn/cairn.h"
#include "cairn/options.h"
#include "cairn/recover.h"
#include "engine/base/status.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

namespace cairn::c_api {

template <>
struct StructVersions<cairn_recover_options> {
  static constexpr std::array<size_t, 2> kSizes = {offsetof(cairn_recover_options, files),
                                                   sizeof(cairn_recover_options)};
};

template <>
struct StructVersions<cairn_recovery_report> {
  static constexpr std::array<size_t, 2> kSizes = {
      offsetof(cairn_recovery_report, missing_checkpoint_end), sizeof(cairn_recovery_report)};
};

}  // namespace cairn::c_api

using cairn::c_api::CheckReport;
using cairn::c_api::ReadStruct;
using cairn::c_api::Return;
using cairn::c_api::WriteReport;

cairn_code cairn_recover(const char* path, const cairn_recover_options* options,
                         cairn_recovery_report* report, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(path);
    CAIRN_RETURN_IF_ERROR(CheckReport(report));
    constexpr cairn_recover_options kDefaults = CAIRN_RECOVER_OPTIONS_INIT;
    CAIRN_ASSIGN_OR_RETURN(const cairn_recover_options given,
                           ReadStruct(options, kDefaults, "recover options"));
    CAIRN_ASSIGN_OR_RETURN(const cairn::RecoveryReport done,
                           cairn::Recover(path, {.dry_run = given.dry_run,
                                                 .drop_stranded = given.drop_stranded,
                                                 .file_system = cairn::c_api::ToCpp(given.files)}));
    const cairn_recovery_report result = {.struct_size = sizeof(cairn_recovery_report),
                                          .header_restored = done.header_restored,
                                          .checkpoint_generation = done.checkpoint_generation,
                                          .generation = done.generation,
                                          .commits = done.commits,
                                          .stranded_commits = done.stranded_commits,
                                          .cut = done.cut,
                                          .size_before = done.size_before,
                                          .size_after = done.size_after,
                                          .missing_checkpoint_end = done.missing_checkpoint_end};
    WriteReport(result, report);
    return absl::OkStatus();
  });
}

cairn_code cairn_salvage(const char* from, const char* to, const cairn_salvage_options* options,
                         cairn_salvage_report* report, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(from);
    CAIRN_REQUIRE(to);
    CAIRN_RETURN_IF_ERROR(CheckReport(report));
    constexpr cairn_salvage_options kDefaults = CAIRN_SALVAGE_OPTIONS_INIT;
    CAIRN_ASSIGN_OR_RETURN(const cairn_salvage_options given,
                           ReadStruct(options, kDefaults, "salvage options"));
    cairn::SalvageOptions salvage;
    CAIRN_ASSIGN_OR_RETURN(salvage.open, cairn::c_api::ToCpp(given.open));
    salvage.progress = cairn::c_api::ToFunction(given.progress, given.context);
    CAIRN_ASSIGN_OR_RETURN(const cairn::SalvageReport done, cairn::Salvage(from, to, salvage));
    if (given.on_lost != nullptr) {
      for (const cairn::LostBytes& lost : done.lost) {
        given.on_lost(given.context, lost.begin, lost.end, lost.reason.c_str());
      }
    }
    const cairn_salvage_report result = {.struct_size = sizeof(cairn_salvage_report),
                                         .chunks = done.chunks,
                                         .nbytes = done.nbytes,
                                         .nlost = static_cast<int64_t>(done.lost.size())};
    WriteReport(result, report);
    return absl::OkStatus();
  });
}
