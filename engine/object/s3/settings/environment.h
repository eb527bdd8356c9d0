// Takes options from the environment.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/s3.h"

namespace cairn::object {

// Returns the value of a variable, or an empty text if it is not set.
using Variables = absl::FunctionRef<std::string(const char* name)>;

// Does what S3OptionsFromEnvironment does, with any environment.
absl::StatusOr<S3Options> OptionsFrom(Variables variables);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_
