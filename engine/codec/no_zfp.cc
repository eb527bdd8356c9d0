// Replaces zfp.cc if there is no libzfp.
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

std::unique_ptr<StreamCodec> MakeZfp(Codec /*mode*/) { return nullptr; }

}  // namespace cairn::codec
