# Writes version.cc, only when it changes. The commit is that of the repository whose top SOURCE is: one around an
# unpacked archive says nothing of it. COMMIT, when given, is what a package builder knows better.
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  file(REAL_PATH ${SOURCE} source)
  if(NOT failed AND top STREQUAL source)
    execute_process(COMMAND git -C ${SOURCE} describe --always --dirty=\ modified --abbrev=12 --exclude=*
      OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    string(REPLACE " modified" ", modified" COMMIT "${COMMIT}")
  endif()
endif()
set(text "${VERSION}")
if(COMMIT)
  string(APPEND text " (commit ${COMMIT})")
endif()
set(content "#include \"version/version.h\"

namespace heddle {

std::string_view version() { return \"${VERSION}\"; }

std::string_view version_and_commit() { return \"${text}\"; }

}  // namespace heddle
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT content STREQUAL before)
  file(WRITE ${OUTPUT} "${content}")
endif()
