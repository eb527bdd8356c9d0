// Verification of frames and collections.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_VERIFICATION_H_
#define CAIRN_TOOLS_PYTHON_BINDING_VERIFICATION_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include <nanobind/stl/vector.h>

#include "cairn/verify.h"
#include "tools/python/binding/calls.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

// How its result looks to Python.
#define CAIRN_VERIFY_SIGNATURE                                                      \
  "def verify(self, depth: int, progress: object | None) -> tuple[int, int, bool, " \
  "list[tuple[int, int, str, str]], int, list[str]]"

// Returns (chunks, bytes read, sealed, findings, omitted findings, notes) of a snapshot.
template <typename Checked>
nb::tuple VerifyWith(const Context& context, const Checked& checked, int depth,
                     nb::object progress) {
  Progress reported(std::move(progress));
  absl::StatusOr<VerifyReport> report = WithoutGil(context.remote, [&] {
    return checked.Verify({.depth = static_cast<VerifyDepth>(depth),
                           .progress = [&](int64_t done) { return reported.Report(done); }});
  });
  reported.RaiseError();
  const VerifyReport found = Check(std::move(report));
  nb::list findings;
  for (const Finding& one : found.findings) {
    findings.append(nb::make_tuple(one.begin, one.end, one.section, one.reason));
  }
  return nb::make_tuple(found.nchunks, found.bytes_read, found.sealed, findings, found.omitted,
                        found.notes);
}

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_VERIFICATION_H_
