// cairn: pack files into Blosc2 frames, read them back, look into them, edit them, check them.

#include <csignal>
#include <new>
#include <string>

#include "tools/cairn/command_line.h"
#include "tools/cairn/complain.h"
#include "tools/cairn/exit.h"
#include "tools/cairn/io.h"
#include "tools/cairn/lost_pages.h"

namespace cairn::tool {
namespace {

ExitCode Run(const Command& command) {
  absl::Status status;
  try {
    status = command();
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError("out of memory");
  }
  if (!status.ok() && !absl::IsCancelled(status)) Complain(std::string(status.message()));
  return ExitCodeOf(status);
}

int Main(int argc, char** argv) {
  const ParsedCommandLine parsed = ParseCommandLine(argc, argv);
  if (!parsed.complaint.empty()) {
    Complain(parsed.complaint);
    return kExitUsage;
  }
  if (!parsed.text.empty()) return Run([&parsed] { return WriteStdout(parsed.text); });
  return Run(parsed.command);
}

}  // namespace
}  // namespace cairn::tool

int main(int argc, char** argv) {
  if (!cairn::tool::FillClosedStreams()) return cairn::tool::kExitFailure;
  // A closed pipe and a file size limit shall be errors of write, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  cairn::tool::ReportLostPages();
  return cairn::tool::Main(argc, argv);
}
