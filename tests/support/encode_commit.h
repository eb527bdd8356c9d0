// Encodes a commit record as a test describes it.
#ifndef CAIRN_TESTS_SUPPORT_ENCODE_COMMIT_H_
#define CAIRN_TESTS_SUPPORT_ENCODE_COMMIT_H_

#include <cstdint>
#include <vector>

#include "engine/format/journal.h"

namespace cairn {

inline std::vector<std::byte> EncodeCommit(const format::CommitRecord& commit, int64_t position) {
  format::EncodedEdits edits;
  for (const format::ChunkEdit& edit : commit.chunks) edits.Add(edit);
  std::vector<std::byte> record;
  format::AppendRecord({.links = commit.links,
                        .totals = commit.totals,
                        .chunks = edits,
                        .layers = commit.layers,
                        .partial_replaced = commit.partial.replaces,
                        .partial_head = commit.partial.head,
                        .partial_items = commit.partial.items},
                       position, record);
  return record;
}

}  // namespace cairn

#endif  // CAIRN_TESTS_SUPPORT_ENCODE_COMMIT_H_
