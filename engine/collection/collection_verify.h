// Adds up the reports of the frames of a collection.
#ifndef CAIRN_ENGINE_COLLECTION_COLLECTION_VERIFY_H_
#define CAIRN_ENGINE_COLLECTION_COLLECTION_VERIFY_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/snapshot.h"
#include "cairn/verify.h"

namespace cairn::collection {

// The sections of its findings begin with the name of the frame. Chunks are counted together.
class WholeReport {
 public:
  explicit WholeReport(const VerifyOptions& options);

  // Verifies a frame. One that cannot be opened is reported, if it is damaged or this build cannot
  // read it.
  absl::Status Add(const std::string& name, const absl::StatusOr<Snapshot>& frame);
  void AddFinding(const std::string& name, Finding finding);
  VerifyReport Take() && { return std::move(whole_); }

 private:
  VerifyReport whole_;
  VerifyOptions options_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_COLLECTION_VERIFY_H_
