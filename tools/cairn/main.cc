// cairn: pack files into Blosc2 frames, read them back, look into them, edit them, check them.

#include <csignal>
#include <new>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"

#include "tools/cairn/command_line.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/lost_pages.h"
#include "tools/cairn/text/complain.h"
#include "tools/cairn/text/exit.h"

namespace cairn::tool {
namespace {

// A wrong command line is reported in one line too, which says where to read more.
ExitCode ComplainOfUsage(const std::string& name, std::string_view complaint) {
  // Other words than the command line's may help here: it may have been a frame.
  const bool no_frame = complaint.ends_with("not a Blosc2 frame");
  Complain(no_frame ? absl::StrFormat("%s; if its first bytes were overwritten, see 'cairn recover "
                                      "--help'",
                                      complaint)
                    : absl::StrFormat("%s; see '%s --help'", complaint, name));
  return kExitUsage;
}

ExitCode Run(const std::string& name, const Command& command) {
  absl::Status status;
  try {
    status = command();
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError("out of memory");
  }
  const ExitCode code = ExitCodeOf(status);
  if (code == kExitUsage) return ComplainOfUsage(name, std::string(status.message()));
  if (code == kExitFailure) Complain(std::string(status.message()));
  return code;
}

int Main(int argc, char** argv) {
  const ParsedCommandLine parsed = ParseCommandLine(argc, argv);
  if (!parsed.complaint.empty()) return ComplainOfUsage(parsed.name, parsed.complaint);
  if (!parsed.text.empty()) return Run(parsed.name, [&] { return WriteStdout(parsed.text); });
  return Run(parsed.name, parsed.command);
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
