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

# Tests that look into the file of a database see its pages, not those bytes of the frame that hold
# them. Each file runs in an interpreter of its own.
set show_pages {
  proc is_frame {name} {
    if {![::tcl::file::isfile $name] || ![::tcl::file::readable $name]} { return 0 }
    set channel [open $name rb]
    set begin [read $channel 10]
    close $channel
    return [expr {[string range $begin 2 8] eq "b2frame"}]
  }
  foreach command {file hexio_read hexio_write} { rename $command ${command}_of_disk }
  proc file {args} {
    if {[lindex $args 0] eq "size" && [llength $args] == 2 && [is_frame [lindex $args 1]]} {
      return [cairn_size [lindex $args 1]]
    }
    uplevel 1 [list file_of_disk {*}$args]
  }
  proc hexio_read {name offset count} {
    if {[is_frame $name]} { return [cairn_read $name $offset $count] }
    hexio_read_of_disk $name $offset $count
  }
  proc hexio_write {name offset hex} {
    if {[is_frame $name]} { return [cairn_write $name $offset $hex] }
    hexio_write_of_disk $name $offset $hex
  }
}
if {[info exists ::env(CAIRN_SQLITE)]} {
  rename slave_test_script plain_test_script
  proc slave_test_script {script} {
    plain_test_script "load {} Cairn\n$::show_pages\n$script"
  }
}

run_tests veryquick {*}$::testspec(veryquick) -files [list $file]
finish_test
