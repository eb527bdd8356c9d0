// Takes options from the environment.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_

#include "absl/status/statusor.h"

#include "cairn/s3.h"
#include "engine/object/s3/settings/lookup.h"

namespace cairn::object {

// Does what S3OptionsFromEnvironment does, with any environment.
absl::StatusOr<S3Options> OptionsFrom(Variables variables);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_
