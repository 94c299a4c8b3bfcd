# Compiler settings that every target shares.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# -O3 takes a sixth more time to compile; heddle_more_optimized() is for what is worth it.
string(REPLACE -O3 -O2 CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Wnull-dereference -Wimplicit-fallthrough -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 sees dangling pointers, overflows and unset members inside its own inlined library code.
  add_compile_options(-Wno-null-dereference -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
    -Wno-free-nonheap-object -Wno-maybe-uninitialized)
endif()
if(CMAKE_UNITY_BUILD)
  # What one source keeps to itself is no concern of the next one: the dev preset, where each is by itself, warns of it.
  add_compile_options(-Wno-shadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-subobject-linkage)
    # Told, but no errors: the more g++ 12 inlines, the more it sees what is not there.
    add_compile_options(-Wno-error=dangling-pointer -Wno-error=use-after-free -Wno-error=stringop-overread
      -Wno-error=mismatched-new-delete)
  endif()
endif()
# The C sources of nobody here are compiled; -Wnon-virtual-dtor and the like are for C++ only.
set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} -Wno-error")

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # A seventh of g++'s time for a large unit is its own garbage collection, which begins at 128 MB. Without it the largest unit takes
  # 2.1 GB in place of 1.7.
  add_compile_options(--param=ggc-min-heapsize=2097152)
endif()

if(HEDDLE_SANITIZE)
  add_compile_definitions(HEDDLE_SANITIZED)  # tests/support/sanitized.h
  if(HEDDLE_SANITIZE MATCHES address)
    add_compile_definitions(HEDDLE_ADDRESS_SANITIZER)
  endif()
  add_compile_options(-fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HEDDLE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    link_libraries(atomic)  # at -O0 clang++ calls it for an atomic of two bytes that g++ expands
  endif()
  if(HEDDLE_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)  # Asio's fences: not understood by the sanitizer, and not what is tested
  endif()
endif()

if(HEDDLE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # so that libFuzzer sees into what it feeds
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It keeps what was compiled with precompiled headers only with these (ccache(1), PRECOMPILED HEADERS).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
