// Copies a member into a new one, where a store cannot do it.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_MEMBER_COPY_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_MEMBER_COPY_H_

#include "absl/status/status.h"

#include "cairn/snapshot.h"
#include "cairn/writer.h"

namespace cairn::collection {

// Stages the chunks and the vlmetalayers of `from` in a new frame that was made with its
// create_options. Stored chunks are not compressed again.
absl::Status CopyContent(const Snapshot& from, Writer& to);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_MEMBER_COPY_H_
