// nanobind's own sources, which its package brings along.
#include <nb_combined.cpp>  // NOLINT(bugprone-suspicious-include)
