# One file of SQLite's test-suite, for its testfixture: run.tcl TEST_FOLDER FILE, or TEST_FOLDER
# alone, which prints the files of the permutation "veryquick".
set testdir [file normalize [lindex $argv 0]]
set file [lindex $argv 1]
set argv {}
set argv0 $testdir/veryquick.test
source $testdir/permutations.test

if {$file eq ""} {
  array set options $::testspec(veryquick)
  foreach name [lsort $options(-files)] {
    puts [expr {[file tail $name] eq $name ? "$testdir/$name" : [file normalize $name]}]
  }
  exit 0
}

run_tests veryquick {*}$::testspec(veryquick) -files [list $file]
finish_test
