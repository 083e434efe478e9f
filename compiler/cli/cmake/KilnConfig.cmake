# The package of an installed kiln: find_package(Kiln CONFIG). Install this folder as <prefix>/lib/cmake/Kiln.

find_program(Kiln_EXECUTABLE kiln HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin)
include(${CMAKE_CURRENT_LIST_DIR}/FindKiln.cmake)
