# Finds kiln and gives kiln_add_kernels(), which compiles kernels as part of a build.
#
#   find_package(Kiln REQUIRED)
#   kiln_add_kernels(kernels SOURCES a.cl b.cl OPTIONS -cl-std=CL3.0 -DN=4 [EMIT spirv|header] [DESTINATION dir])
#   add_dependencies(app kernels)
#
# Each source becomes <DESTINATION>/<name>.spv or .h (by default in the current binary folder), and is compiled anew when it
# or a file that it includes changes. Of sources with the same name, the output keeps the folder: a/k.cl becomes a/k.spv.
# Relative paths in OPTIONS refer to the current source folder, and a relative DESTINATION to the current binary folder.
# Two targets cannot write one file. The target's KILN_OUTPUTS property lists the files.
# Variables: Kiln_EXECUTABLE (may be set beforehand), Kiln_VERSION. CMake 3.20 or later.

# An installed package is in lib/cmake/Kiln, and its program in bin.
find_program(Kiln_EXECUTABLE kiln HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" DOC "The OpenCL C compiler kiln")
if(Kiln_EXECUTABLE)
  execute_process(COMMAND ${Kiln_EXECUTABLE} --version OUTPUT_VARIABLE Kiln_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "kiln " "" Kiln_VERSION "${Kiln_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Kiln REQUIRED_VARS Kiln_EXECUTABLE VERSION_VAR Kiln_VERSION)
mark_as_advanced(Kiln_EXECUTABLE)

function(kiln_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EMIT;DESTINATION" "SOURCES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kiln_add_kernels: ${arg_UNPARSED_ARGUMENTS} is not understood")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "kiln_add_kernels: there are no SOURCES")
  endif()
  if(NOT arg_EMIT)
    set(arg_EMIT spirv)
  endif()
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  get_filename_component(arg_DESTINATION ${arg_DESTINATION} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  set(ending spv)
  if(arg_EMIT STREQUAL header)
    set(ending h)
  endif()
  set(options)
  set(takes_path FALSE)
  foreach(option IN LISTS arg_OPTIONS)
    if(takes_path)
      get_filename_component(option ${option} ABSOLUTE)
      set(takes_path FALSE)
    elseif(option MATCHES "^(-I|-isystem|-iquote|-include|--include)$")
      set(takes_path TRUE)
    elseif(NOT option MATCHES "\\$<" AND option MATCHES "^(-I|-isystem|-iquote)(.+)$")
      set(flag ${CMAKE_MATCH_1})
      get_filename_component(path ${CMAKE_MATCH_2} ABSOLUTE)
      set(option ${flag}${path})
    endif()
    list(APPEND options ${option})
  endforeach()
  set(names)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(name ${source} NAME_WLE)
    list(APPEND names ${name})
  endforeach()
  set(outputs)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WLE)
    set(count 0)
    foreach(other IN LISTS names)
      if(other STREQUAL name)
        math(EXPR count "${count} + 1")
      endif()
    endforeach()
    if(count GREATER 1)
      file(RELATIVE_PATH inner ${CMAKE_CURRENT_SOURCE_DIR} ${path})
      get_filename_component(inner ${inner} DIRECTORY)
      string(REPLACE ".." "_" inner "${inner}")
      set(name ${inner}/${name})
    endif()
    set(output ${arg_DESTINATION}/${name}.${ending})
    if(output IN_LIST outputs)
      message(FATAL_ERROR "kiln_add_kernels: two of the SOURCES become ${output}")
    endif()
    get_property(writer GLOBAL PROPERTY "KILN_WRITES_${output}")
    if(writer)
      message(FATAL_ERROR "kiln_add_kernels: the targets ${writer} and ${target} both write ${output}; give one of them "
                          "another DESTINATION")
    endif()
    set_property(GLOBAL PROPERTY "KILN_WRITES_${output}" ${target})
    get_filename_component(folder ${output} DIRECTORY)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${Kiln_EXECUTABLE} compile ${path} ${options} --emit ${arg_EMIT} -o ${output} -MD -MF ${output}.d
      MAIN_DEPENDENCY ${path}
      DEPENDS ${Kiln_EXECUTABLE}
      DEPFILE ${output}.d
      COMMENT "Compiling kernels of ${source}"
      VERBATIM)
    list(APPEND outputs ${output})
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${outputs})
  set_target_properties(${target} PROPERTIES KILN_OUTPUTS "${outputs}")
endfunction()
