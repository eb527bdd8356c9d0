// Names of a collection's members.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_MEMBER_NAME_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_MEMBER_NAME_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"

namespace cairn::collection {

// The most bytes of a name, and of each of its parts: file systems allow 255, of which a suffix
// takes six.
inline constexpr size_t kMaxNameSize = 1024;
inline constexpr size_t kMaxNamePart = 249;

// Checks that `name` is a path such as "/group/member": a slash before each part, and parts that
// name files everywhere. Errors: kInvalidArgument, with what is wrong.
absl::Status CheckMemberName(std::string_view name);

// Writes and reads a name in the layers of a ledger: u16 bytes, and the name.
void WriteName(std::string_view name, ByteWriter& writer);
std::string ReadName(ByteReader& reader);

// Returns the name of the member whose vlmetalayers are the attributes of a group, such as "/" or
// "/day". python-blosc2 keeps them there, too.
std::string AttributesName(std::string_view group);
// Returns true if that is the name of such a member.
bool HoldsAttributes(std::string_view name);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_MEMBER_NAME_H_
