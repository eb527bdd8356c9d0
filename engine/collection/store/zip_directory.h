// The directory of a zip file, as APPNOTE.TXT of PKWARE describes it. python-blosc2 packs a store
// into such a file (.b2z) and compresses none of its files, so that each is read where it lies.
#ifndef CAIRN_ENGINE_COLLECTION_STORE_ZIP_DIRECTORY_H_
#define CAIRN_ENGINE_COLLECTION_STORE_ZIP_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::collection {

// A file in the zip file.
struct ZipEntry {
  std::string name;
  int64_t header = 0;  // where its own header begins
  int64_t end = 0;     // no byte of the file lies here or later
  int64_t size = 0;    // of the stored bytes
  uint32_t crc = 0;
  bool plain = false;  // the bytes are stored as they are
  bool operator==(const ZipEntry&) const = default;
};

// Returns true if the file begins like a zip file.
bool IsZip(const File& file);
// Reads the entries, in the order of the directory. A later entry takes the place of an earlier one
// of the same name. Errors: kDataLoss if the directory is damaged or not complete, or if entries
// overlap.
absl::StatusOr<std::vector<ZipEntry>> ReadZipDirectory(const File& file);
// Returns where the bytes of an entry begin. Errors: kDataLoss if its own header contradicts the
// directory; kUnimplemented if the bytes are compressed or encrypted.
absl::StatusOr<int64_t> FindZipData(const File& file, const ZipEntry& entry);
// Returns the checksum of a range of the file, as entries have it.
absl::StatusOr<uint32_t> ZipChecksum(const File& file, int64_t begin, int64_t size);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_STORE_ZIP_DIRECTORY_H_
