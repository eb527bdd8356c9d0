// Tcl commands that show the pages of databases in frames.
#ifndef CAIRN_TESTS_SQLITE_SUITE_LOGICAL_BYTES_H_
#define CAIRN_TESTS_SQLITE_SUITE_LOGICAL_BYTES_H_

// For `load {} Cairn INTERPRETER`.
void OfferLogicalBytes(void);

#endif  // CAIRN_TESTS_SQLITE_SUITE_LOGICAL_BYTES_H_
