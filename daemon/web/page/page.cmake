# The page: npm installs what package-lock.json names, Vite builds, embed.mjs makes a source file of the result. All of it in
# the build directory, and only when something here changes.
set(page_directory ${CMAKE_CURRENT_SOURCE_DIR}/page)
set(page_build ${CMAKE_CURRENT_BINARY_DIR}/page)
if(NOT HEDDLE_PAGE)
  set(page_source ${page_build}/no_page.cc)
  configure_file(${page_directory}/no_page.cc.in ${page_source} COPYONLY)
  return()
endif()

find_program(NODE_PROGRAM NAMES node nodejs)
find_program(NPM_PROGRAM npm)
foreach(program NODE NPM)
  if(NOT ${program}_PROGRAM)
    message(FATAL_ERROR "${program} is missing, which builds the page: install the Debian packages nodejs and npm "
      "(tools/dev/install-packages tools/dev/packages-build.txt), or build without the page (-DHEDDLE_PAGE=OFF)")
  endif()
endforeach()

set(page_source ${page_build}/page_assets.cc)
set(page_packages ${page_build}/node_modules/.package-lock.json)
add_custom_command(OUTPUT ${page_packages}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${page_build}
  COMMAND ${CMAKE_COMMAND} -E copy ${page_directory}/package.json ${page_directory}/package-lock.json ${page_build}
  COMMAND ${NPM_PROGRAM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${page_packages}
  DEPENDS ${page_directory}/package.json ${page_directory}/package-lock.json
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/page
  COMMENT "Installing the npm packages of the page" VERBATIM)

file(GLOB_RECURSE page_files CONFIGURE_DEPENDS ${page_directory}/src/*)
set(page_settings ${page_directory}/index.html ${page_directory}/tsconfig.json ${page_directory}/vite.config.js)
add_custom_command(OUTPUT ${page_source}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${page_build}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${page_directory}/src ${page_build}/src
  COMMAND ${CMAKE_COMMAND} -E copy ${page_settings} ${page_build}
  COMMAND ${NPM_PROGRAM} run --silent build
  COMMAND ${NODE_PROGRAM} ${page_directory}/embed.mjs ${page_build}/dist ${page_source}
  DEPENDS ${page_packages} ${page_files} ${page_settings} ${page_directory}/embed.mjs
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/page
  COMMENT "Building the page" VERBATIM)
file(MAKE_DIRECTORY ${page_build})
