// Options that say which buckets of time a log is cut into: --bucket and --origin.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_BUCKET_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_BUCKET_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include <CLI/CLI.hpp>

#include "cairn/log.h"
#include "cairn/record.h"

namespace cairn::tool {

struct BucketFlags {
  std::string bucket;
  std::string origin;
};
void AddBucket(CLI::App& app, BucketFlags& flags);

// Sets the buckets of an aggregation. With a time zone, hours and more are those of its calendar.
// Errors: kInvalidArgument for a text that is not a length, or one that the zone has no use for.
absl::Status SetBuckets(const BucketFlags& flags, const std::string& time_zone, const Field& time,
                        LogAggregation& aggregation);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_BUCKET_FLAGS_H_
