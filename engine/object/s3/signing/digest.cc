#include "engine/object/s3/signing/digest.h"

#include "absl/strings/escaping.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace cairn::object {

Sha256Digest Sha256(Bytes bytes) {
  Sha256Digest digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

Sha256Digest HmacSha256(std::string_view key, std::string_view text) {
  Sha256Digest digest{};
  const Bytes bytes = AsBytes(text);
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(), nullptr);
  return digest;
}

std::string Hex(const Sha256Digest& digest) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string Md5Base64(Bytes bytes) {
  std::array<unsigned char, 16> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_md5(), nullptr);
  return absl::Base64Escape({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace cairn::object
