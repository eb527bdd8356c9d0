// Keys that a machine or a container is lent by a service beside it.
#ifndef CAIRN_ENGINE_OBJECT_S3_KEYS_METADATA_H_
#define CAIRN_ENGINE_OBJECT_S3_KEYS_METADATA_H_

#include <string>

#include "absl/status/status.h"

#include "cairn/s3.h"

namespace cairn::object {

// The service that ECS and EKS name to a container.
struct ContainerService {
  std::string url;
  std::string token = {};       // value of the header Authorization; empty: none
  std::string token_file = {};  // file with that value, read for each renewal; empty: none
};
// Errors: kInvalidArgument if keys must not be asked for there. With http that is everywhere but on
// this machine and at the addresses of ECS and EKS.
absl::Status CheckContainerUrl(const std::string& url);
S3KeySource ContainerSource(ContainerService service);

// The source asks the instance metadata service of EC2, version 2, for the role of the machine.
S3KeySource InstanceSource(std::string endpoint);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_KEYS_METADATA_H_
