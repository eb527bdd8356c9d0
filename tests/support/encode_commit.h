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
                        .tail_replaced = commit.tail.replaces,
                        .tail_head = commit.tail.head,
                        .tail_items = commit.tail.items},
                       position, record);
  return record;
}

}  // namespace cairn

#endif  // CAIRN_TESTS_SUPPORT_ENCODE_COMMIT_H_
