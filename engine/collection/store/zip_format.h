// Numbers of zip files, as APPNOTE.TXT of PKWARE names them.
#ifndef CAIRN_ENGINE_COLLECTION_STORE_ZIP_FORMAT_H_
#define CAIRN_ENGINE_COLLECTION_STORE_ZIP_FORMAT_H_

#include <cstdint>

namespace cairn::collection::zip {

// Signatures.
inline constexpr uint32_t kLocalHeader = 0x04034B50;
inline constexpr uint32_t kDirectoryHeader = 0x02014B50;
inline constexpr uint32_t kEnd = 0x06054B50;
inline constexpr uint32_t kEnd64 = 0x06064B50;
inline constexpr uint32_t kLocator64 = 0x07064B50;

// Sizes without what varies: names, extra fields and comments.
inline constexpr int64_t kLocalHeaderSize = 30;
inline constexpr int64_t kDirectoryHeaderSize = 46;
inline constexpr int64_t kEndSize = 22;
inline constexpr int64_t kEnd64Size = 56;
inline constexpr int64_t kLocator64Size = 20;

// Stand for numbers that do not fit. An extra field of the kind has them.
inline constexpr uint16_t kElsewhere16 = 0xFFFF;
inline constexpr uint32_t kElsewhere32 = 0xFFFFFFFF;
inline constexpr uint16_t kExtra64 = 1;

inline constexpr uint16_t kEncrypted = 1;   // flag
inline constexpr uint16_t kUtf8 = 1 << 11;  // flag: the name is UTF-8
inline constexpr uint16_t kStored = 0;      // method
inline constexpr uint16_t kVersion = 20;    // that is needed to read
inline constexpr uint16_t kVersion64 = 45;

}  // namespace cairn::collection::zip

#endif  // CAIRN_ENGINE_COLLECTION_STORE_ZIP_FORMAT_H_
