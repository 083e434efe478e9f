# The version of the installed kiln. Versions with the same first number, or before 1.0 the same second one, are compatible.

find_program(Kiln_EXECUTABLE kiln HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin)
execute_process(COMMAND ${Kiln_EXECUTABLE} --version OUTPUT_VARIABLE PACKAGE_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "kiln " "" PACKAGE_VERSION "${PACKAGE_VERSION}")
string(REGEX MATCH "^(0[.][0-9]+|[1-9][0-9]*)" compatible "${PACKAGE_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND "${PACKAGE_FIND_VERSION}." MATCHES "^${compatible}[.]")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
