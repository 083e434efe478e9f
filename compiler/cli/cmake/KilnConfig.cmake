# The package of an installed kiln: find_package(Kiln CONFIG). Install this folder as <prefix>/lib/cmake/Kiln.

find_program(Kiln_EXECUTABLE kiln HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin)
include(${CMAKE_CURRENT_LIST_DIR}/FindKiln.cmake)

# The compiler as a library: Kiln::kiln, and Kiln::kiln_static for programs that contain it.
get_filename_component(_kiln_prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
if(NOT TARGET Kiln::kiln AND EXISTS ${_kiln_prefix}/include/kiln.h)
  add_library(Kiln::kiln SHARED IMPORTED)
  set_target_properties(Kiln::kiln PROPERTIES IMPORTED_LOCATION ${_kiln_prefix}/lib/libkiln.so
    INTERFACE_INCLUDE_DIRECTORIES ${_kiln_prefix}/include)
  add_library(Kiln::kiln_static STATIC IMPORTED)
  set_target_properties(Kiln::kiln_static PROPERTIES IMPORTED_LOCATION ${_kiln_prefix}/lib/libkiln.a
    INTERFACE_INCLUDE_DIRECTORIES ${_kiln_prefix}/include INTERFACE_LINK_LIBRARIES "gcc_s;pthread;m;dl;c")
endif()
unset(_kiln_prefix)
