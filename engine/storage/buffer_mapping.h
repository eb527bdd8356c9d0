// Bytes in memory, seen as a Mapping.
#ifndef CAIRN_ENGINE_STORAGE_BUFFER_MAPPING_H_
#define CAIRN_ENGINE_STORAGE_BUFFER_MAPPING_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn::storage {

// The caller keeps the bytes alive.
std::shared_ptr<const Mapping> BorrowBytes(Bytes bytes);

// The mapping keeps them alive.
std::shared_ptr<const Mapping> OwnBytes(std::vector<std::byte> bytes);

// The mapping keeps `owner` alive, and that the bytes.
std::shared_ptr<const Mapping> ShareBytes(Bytes bytes, std::shared_ptr<const void> owner);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_BUFFER_MAPPING_H_
