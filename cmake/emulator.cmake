# The software CUDA device: libtcc-emu.so, and the same as libcuda.so.1 in a folder of its own, for
# LD_LIBRARY_PATH. It exports the driver API (emulator/driver/functions.def) and emulator/driver/emu.h.
# Beside it libcuda.so, with which programs are linked.
file(GLOB emulator_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/emulator/driver/*.c)

add_library(tcc-emu SHARED ${emulator_sources})
tcc_flags(tcc-emu)
target_link_libraries(tcc-emu PRIVATE tcc_emulator tcc_base)
set(map ${CMAKE_SOURCE_DIR}/emulator/driver/exports.map)
target_link_options(tcc-emu PRIVATE -Wl,--gc-sections -Wl,-z,now -Wl,--version-script=${map})
if(NOT TCC_SANITIZE)
    target_link_options(tcc-emu PRIVATE -Wl,-z,defs)
endif()
set_target_properties(tcc-emu PROPERTIES LINK_DEPENDS ${map})

set(folder ${CMAKE_INSTALL_LIBDIR}/tensorcc/cuda)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/emu-cuda)
file(CREATE_LINK ../libtcc-emu.so ${CMAKE_BINARY_DIR}/emu-cuda/libcuda.so.1 SYMBOLIC)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/emu-cuda)
file(CREATE_LINK ../../libtcc-emu.so ${CMAKE_BINARY_DIR}/generated/emu-cuda/libcuda.so.1 SYMBOLIC)

add_library(tcc-cuda-names SHARED ${CMAKE_SOURCE_DIR}/emulator/driver/link/names.c)
target_include_directories(tcc-cuda-names PRIVATE ${CMAKE_SOURCE_DIR})
target_link_options(tcc-cuda-names PRIVATE -nostdlib -Wl,-soname,libcuda.so.1)
set_target_properties(tcc-cuda-names PROPERTIES OUTPUT_NAME cuda NO_SONAME ON
    C_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/emu-cuda)

install(TARGETS tcc-cuda-names LIBRARY DESTINATION ${folder})
install(TARGETS tcc-emu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/generated/emu-cuda/libcuda.so.1 DESTINATION ${folder})
install(FILES emulator/driver/emu.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tcc)
