// Compiles nanobind's own sources, which its package includes.
#include <nb_combined.cpp>  // NOLINT(bugprone-suspicious-include)
