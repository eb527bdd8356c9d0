// Checks the facts that must hold for a chunk of the manifest. Failures are GoogleTest's.
#ifndef CAIRN_TESTS_VECTORS_CHUNK_CHECKS_H_
#define CAIRN_TESTS_VECTORS_CHUNK_CHECKS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "tests/vectors/manifest.h"

namespace cairn::vectors {

// Header fields, content and partial reads are as the manifest says.
void CheckReadableChunk(const Entry& entry, Bytes chunk);
// For the values of `expect` that are not about equal content.
void CheckHostileChunk(const Entry& entry, Bytes chunk);
void CheckUnsupportedChunk(Bytes chunk);

// The hash of the decoded content. Tries every call that takes a chunk.
absl::StatusOr<std::string> DecodeAll(Bytes chunk);

// The error says what is wrong in one of the codes that bad bytes may give.
void ExpectBadBytes(const absl::Status& status);

}  // namespace cairn::vectors

#endif  // CAIRN_TESTS_VECTORS_CHUNK_CHECKS_H_
