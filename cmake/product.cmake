# What users get: libtensorcc.so, which exports the names of include/tcc alone, and the command tcc,
# installed as tensorcc too, for machines where tcc is the Tiny C Compiler.
include(CMakePackageConfigHelpers)

file(GLOB compiler_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/compiler/*.c)
file(GLOB driver_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/driver/*.c)

add_library(tensorcc SHARED ${compiler_sources})
tcc_flags(tensorcc)
target_include_directories(tensorcc PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tensorcc PRIVATE
    tcc_frontend tcc_passes tcc_codegen tcc_runtime tcc_ir tcc_base tcc_llvm_static)
target_link_options(tensorcc PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-z,now
    -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/tensorcc.map)
# LLVM's memory (codegen/lower/wrapped.c). Nor can LLVM be unloaded: its destructors are the process's.
target_link_options(tensorcc PRIVATE -Wl,-z,nodelete -Wl,--wrap=malloc -Wl,--wrap=calloc
    -Wl,--wrap=realloc -Wl,--wrap=aligned_alloc)
if(NOT TCC_SANITIZE)
    target_link_options(tensorcc PRIVATE -Wl,-z,defs)
endif()
set_target_properties(tensorcc PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/tensorcc.map)

add_executable(tcc ${driver_sources})
tcc_flags(tcc)
target_link_libraries(tcc PRIVATE tensorcc)
set_target_properties(tcc PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/bin)
file(CREATE_LINK tcc ${CMAKE_BINARY_DIR}/generated/bin/tensorcc SYMBOLIC)

install(TARGETS tensorcc EXPORT tensorcc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tcc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_BINARY_DIR}/generated/bin/tensorcc DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tcc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tensorcc)

# find_package(tensorcc) gives tensorcc::tensorcc.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tensorcc)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/tensorccConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(EXPORT tensorcc FILE tensorccConfig.cmake NAMESPACE tensorcc:: DESTINATION ${package})
install(FILES ${CMAKE_BINARY_DIR}/generated/tensorccConfigVersion.cmake DESTINATION ${package})

# pkg-config tensorcc. Its prefix is told from where the file lies, so that an installed tree may move.
file(RELATIVE_PATH TCC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_SOURCE_DIR}/cmake/tensorcc.pc.in
    ${CMAKE_BINARY_DIR}/generated/tensorcc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/tensorcc.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What the command prints of itself: the manual page, and completion for shells.
set(share ${CMAKE_BINARY_DIR}/generated/share)
file(MAKE_DIRECTORY ${share})
add_custom_command(OUTPUT ${share}/tcc.1 ${share}/tcc ${share}/_tcc
    COMMAND tcc man > ${share}/tcc.1
    COMMAND tcc completion bash > ${share}/tcc
    COMMAND tcc completion zsh > ${share}/_tcc
    DEPENDS tcc VERBATIM)
add_custom_target(tcc_share ALL DEPENDS ${share}/tcc.1 ${share}/tcc ${share}/_tcc)
file(CREATE_LINK tcc.1 ${share}/tensorcc.1 SYMBOLIC)
file(CREATE_LINK tcc ${share}/tensorcc SYMBOLIC)
install(FILES ${share}/tcc.1 ${share}/tensorcc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${share}/tcc ${share}/tensorcc
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${share}/_tcc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
