# SPDX-License-Identifier: Apache-2.0
# check_headers(TARGET HEADER...)
#
# Compiles each header alone, so that none leans on what its includer happened to include before.
function(check_headers TARGET)
  set(sources)
  foreach(header ${ARGN})
    string(MAKE_C_IDENTIFIER ${header} id)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/header_checks/${id}.cc)
    file(GENERATE OUTPUT ${source}
         CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${header}\"  // IWYU pragma: keep\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${TARGET}_headers OBJECT ${sources})
  target_link_libraries(${TARGET}_headers PRIVATE ${TARGET})
endfunction()
