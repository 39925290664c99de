# SPDX-License-Identifier: Apache-2.0
# add_bpf_skeleton(NAME SOURCE [INCLUDE DIR...])
#
# Compiles SOURCE for the BPF target and makes an interface library NAME whose include folder holds
# NAME.skel.h, a skeleton from bpftool.  The object itself lies beside it as NAME.bpf.o.
find_program(BPF_CLANG NAMES clang clang-14 clang-16 clang-19 REQUIRED)
find_program(BPFTOOL NAMES bpftool PATHS /usr/sbin REQUIRED)

function(add_bpf_skeleton NAME SOURCE)
  cmake_parse_arguments(ARG "" "" "INCLUDE" ${ARGN})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/skeleton)
  file(MAKE_DIRECTORY ${dir})
  set(object ${dir}/${NAME}.bpf.o)
  set(header ${dir}/${NAME}.skel.h)
  get_filename_component(source ${SOURCE} ABSOLUTE)
  set(includes)
  foreach(include ${ARG_INCLUDE})
    list(APPEND includes -I${include})
  endforeach()
  # The multiarch folder holds asm/types.h, which clang does not search for the BPF target.
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${BPF_CLANG} -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror ${includes}
            -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
            -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    VERBATIM)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${BPFTOOL} gen skeleton ${object} name ${NAME} > ${header}
    DEPENDS ${object}
    VERBATIM)
  add_custom_target(${NAME}_generate DEPENDS ${header})
  add_library(${NAME} INTERFACE)
  add_dependencies(${NAME} ${NAME}_generate)
  # Generated code is not held to our warnings.
  target_include_directories(${NAME} SYSTEM INTERFACE ${dir})
  target_link_libraries(${NAME} INTERFACE PkgConfig::LIBBPF)
endfunction()
