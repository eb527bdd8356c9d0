// Computes the hashes that S3 needs.
#ifndef CAIRN_ENGINE_OBJECT_S3_SIGNING_DIGEST_H_
#define CAIRN_ENGINE_OBJECT_S3_SIGNING_DIGEST_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn::object {

using Sha256Digest = std::array<unsigned char, 32>;

inline Bytes AsBytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// Loads libcrypto, which all of these need. Errors: kUnimplemented if it is not installed.
absl::Status LoadDigests();

Sha256Digest Sha256(Bytes bytes);
Sha256Digest HmacSha256(std::string_view key, std::string_view text);
std::string Hex(const Sha256Digest& digest);
std::string Md5Base64(Bytes bytes);
std::string Sha1Hex(Bytes bytes);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SIGNING_DIGEST_H_
