// Options from the environment.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/s3.h"

namespace cairn::object {

// The value of a variable; empty where it is not set.
using Variables = absl::FunctionRef<std::string(const char* name)>;

// S3OptionsFromEnvironment, of any environment.
absl::StatusOr<S3Options> OptionsFrom(Variables variables);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_ENVIRONMENT_H_
