# One static library per module: `heddle_module(fabric DEPENDS base)` in the module's directory makes
# heddle_fabric from all its .cc files. Includes are written from the root: "fabric/fabric.h".
# A sub-directory with a CMakeLists.txt of its own is another module, whose ROOT is where its includes start.

function(heddle_module name)
  cmake_parse_arguments(ARG "" "ROOT" "DEPENDS;LINKS;PRIVATE_LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  file(GLOB nested CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(other ${nested})
    cmake_path(GET other PARENT_PATH other)
    list(FILTER sources EXCLUDE REGEX "^${other}/")
  endforeach()
  list(TRANSFORM ARG_DEPENDS PREPEND heddle_)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH root)
  if(ARG_ROOT)
    set(root ${ARG_ROOT})
  endif()
  if(sources)
    add_library(heddle_${name} STATIC ${sources})
    heddle_larger_units(heddle_${name})
    target_include_directories(heddle_${name} PUBLIC ${root})
    target_link_libraries(heddle_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
    heddle_precompile(heddle_${name})
  else()
    add_library(heddle_${name} INTERFACE)
    target_include_directories(heddle_${name} INTERFACE ${root})
    target_link_libraries(heddle_${name} INTERFACE ${ARG_DEPENDS} ${ARG_LINKS} ${ARG_PRIVATE_LINKS})
  endif()
endfunction()

# More sources in each unit than in those of tests: what they include is compiled less often.
function(heddle_larger_units target)
  if(CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  endif()
endfunction()

# All sources in one unit, where what they include takes longer than they do.
function(heddle_one_unit target)
  if(CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# For what computes: with -O2 some loops take half as long again, or twice as long (tests/bench).
function(heddle_more_optimized target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
endfunction()

# For what computes little: a fifth off the time to compile it.
function(heddle_less_optimized target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# For what waits for others, or runs once, and for tests, which spend their time in what they test: another fifth. -O0 takes longer than
# -Og, which inlines the smallest functions and so has fewer to compile.
function(heddle_little_optimized target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# What most sources include is parsed once for all targets that are compiled alike: it is a seventh of the time of a unit, and
# half of one of tests (WITH_TESTS). Only where sources are compiled together: the dev preset has each include by itself what it needs.
# g++ only, whose time was measured.
function(heddle_precompile target)
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Once its directory has said how it is compiled.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL heddle_share_precompiled ${target} ${ARGN})")
  endif()
endfunction()

function(heddle_share_precompiled target)
  get_target_property(options ${target} COMPILE_OPTIONS)
  get_target_property(type ${target} TYPE)
  string(REGEX REPLACE ".*_LIBRARY" LIBRARY type ${type})
  string(MD5 alike "${options} ${type} ${ARGN}")
  set(owner heddle_precompiled_${alike})
  if(NOT TARGET ${owner})
    set(nothing ${CMAKE_BINARY_DIR}/precompiled.cc)
    file(CONFIGURE OUTPUT ${nothing} CONTENT "// Of this target only the headers are used.\nint main() {}\n" @ONLY)
    # What is compiled for programs (-fPIE) and for libraries (-fPIC) are no headers for each other.
    if(type STREQUAL EXECUTABLE)
      add_executable(${owner} EXCLUDE_FROM_ALL ${nothing})
    else()
      add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${nothing})
    endif()
    set_target_properties(${owner} PROPERTIES COMPILE_OPTIONS "${options}" UNITY_BUILD OFF)
    target_link_libraries(${owner} PRIVATE fmt::fmt)
    if("${ARGN}" STREQUAL WITH_TESTS)
      target_link_libraries(${owner} PRIVATE GTest::gmock rapidcheck)
      set(tests <gtest/gtest.h> <gmock/gmock.h> <rapidcheck.h> <rapidcheck/gtest.h>)
    endif()
    target_include_directories(${owner} PRIVATE ${CMAKE_SOURCE_DIR}/libanalysis)
    target_precompile_headers(${owner} PRIVATE
      <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstdint> <cstring> <deque> <fstream> <functional>
      <limits> <map> <memory> <mutex> <numeric> <optional> <ostream> <set> <span> <sstream> <string> <string_view> <thread> <tuple>
      <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h> <base/result.h> <base/units.h> <fabric/fabric.h>
      ${tests})
  endif()
  # g++ ends in an internal error where headers were compiled with another -O than what takes them.
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_source_file_property(own ${source} COMPILE_OPTIONS)
    if(own)
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# One test program per module: `heddle_test(fabric LINKS heddle_fabric)` in tests/unit/fabric. Test sources are
# little optimized, which halves the time to compile them; what they test is. OPTIMIZED is for those that compute. SHARDS is in
# how many runs a build with a sanitizer runs all of its tests.
# ThreadSanitizer sees something only where there is more than one thread: it gets the tests of programs with THREADS and, of programs
# with SOME_THREADS, those that have Thread in their names. Everywhere else a thread that is begun ends the program
# (tests/support/one_thread.cc).
function(heddle_test name)
  cmake_parse_arguments(ARG "OPTIMIZED;THREADS;SOME_THREADS" "LABEL;SHARDS" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(NOT sources)
    return()
  endif()
  if(HEDDLE_SANITIZE MATCHES thread AND NOT ARG_THREADS AND NOT ARG_SOME_THREADS)
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${name}_test ${sources})
  if(NOT HEDDLE_SANITIZE AND NOT ARG_THREADS)
    target_link_libraries(${name}_test PRIVATE heddle_test_one_thread)
  endif()
  add_dependencies(test_programs ${name}_test)
  target_link_libraries(${name}_test PRIVATE ${ARG_LINKS} heddle_test_places GTest::gmock GTest::gtest_main rapidcheck)
  if(ARG_OPTIMIZED)
    heddle_less_optimized(${name}_test)
  else()
    heddle_little_optimized(${name}_test)
  endif()
  heddle_precompile(${name}_test WITH_TESTS)
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  if(HEDDLE_SANITIZE MATCHES thread AND ARG_SOME_THREADS)
    heddle_whole_test(${name} ${ARG_LABEL})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=*Thread*")
  elseif(HEDDLE_SANITIZE)
    heddle_whole_test(${name} ${ARG_LABEL} ${ARG_SHARDS})
  else()
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST
      TEST_PREFIX "${name}." PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300 ENVIRONMENT "${HEDDLE_PROPERTY_ENVIRONMENT}")
  endif()
endfunction()

# All tests of a program in one run, or in as many as are given: with a sanitizer it takes a program longer to begin than it takes
# most tests to run.
function(heddle_whole_test name label)
  set(shards 1)
  if(ARGN)
    set(shards ${ARGN})
  endif()
  foreach(shard RANGE 1 ${shards})
    set(test ${name})
    if(shards GREATER 1)
      set(test ${name}.${shard}_of_${shards})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${name}_test --gtest_brief=1)
    set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 1800 COST ${shards}
      ENVIRONMENT "${HEDDLE_PROPERTY_ENVIRONMENT};GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# One benchmark program: `heddle_bench(routing LINKS heddle_routing)` makes routing_bench from routing_bench.cc.
function(heddle_bench name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  add_executable(${name}_bench ${name}_bench.cc)
  target_link_libraries(${name}_bench PRIVATE ${ARG_LINKS} benchmark::benchmark)
  target_include_directories(${name}_bench PRIVATE ${CMAKE_SOURCE_DIR}/tests)
endfunction()
