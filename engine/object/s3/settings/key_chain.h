// Chooses where keys come from, in the order that S3 clients have.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_KEY_CHAIN_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_KEY_CHAIN_H_

#include "absl/status/status.h"

#include "cairn/s3.h"
#include "engine/object/s3/settings/lookup.h"

namespace cairn::object {

// Sets the members of `options` that concern keys. Its region must be set. Errors: those of
// S3OptionsFromEnvironment.
absl::Status ChooseKeys(const Lookup& lookup, S3Options& options);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_KEY_CHAIN_H_
