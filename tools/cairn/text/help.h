// Lays out help.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_HELP_H_
#define CAIRN_TOOLS_CAIRN_TEXT_HELP_H_

#include <string>

#include <CLI/CLI.hpp>

namespace cairn::tool {

// Formats help as "--level 0-9      0 stores, … [5]": the form of the value, then what it does and
// its default, in lines that fit a terminal.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(26); }
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_HELP_H_
