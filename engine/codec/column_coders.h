// The coders of columns. Each is made when it is first needed.
#ifndef CAIRN_ENGINE_CODEC_COLUMN_CODERS_H_
#define CAIRN_ENGINE_CODEC_COLUMN_CODERS_H_

#include <array>
#include <cstdint>
#include <memory>

#include "engine/codec/column_coder.h"
#include "engine/codec/numbers/stream_head.h"

namespace cairn::codec {

// Not thread-safe.
class ColumnCoders {
 public:
  ColumnCoder& Get(numbers::Coding coding) {
    std::unique_ptr<ColumnCoder>& coder = coders_[static_cast<size_t>(coding) - 1];
    if (coder == nullptr) coder = Make(coding);
    return *coder;
  }

 private:
  static std::unique_ptr<ColumnCoder> Make(numbers::Coding coding) {
    if (coding == numbers::Coding::kPco) return MakePcoCoder();
    if (coding == numbers::Coding::kBitpack) return MakeBitpackCoder();
    return MakeBytesCoder(coding);
  }

  std::array<std::unique_ptr<ColumnCoder>, numbers::kMaxCoding> coders_;  // by coding, less one
};

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_COLUMN_CODERS_H_
