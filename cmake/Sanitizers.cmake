# SPDX-License-Identifier: Apache-2.0
# AFXDP_SANITIZE=address,undefined or =thread instruments everything that is built here.
if(AFXDP_SANITIZE)
  add_compile_options(-fsanitize=${AFXDP_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${AFXDP_SANITIZE})
endif()
