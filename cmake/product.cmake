# What users get: libtensorcc.so, which exports the names of include/tcc alone, and the command tcc.
file(GLOB compiler_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/compiler/*.c)
file(GLOB driver_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/driver/*.c)

if(compiler_sources)
    add_library(tensorcc SHARED ${compiler_sources})
    tcc_flags(tensorcc)
    target_include_directories(tensorcc PUBLIC
        $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
    target_link_libraries(tensorcc PRIVATE
        tcc_frontend tcc_passes tcc_codegen tcc_runtime tcc_ir tcc_base tcc_llvm_static)
    target_link_options(tensorcc PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-z,now
        -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/tensorcc.map)
    if(NOT TCC_SANITIZE)
        target_link_options(tensorcc PRIVATE -Wl,-z,defs)
    endif()
    set_target_properties(tensorcc PROPERTIES SOVERSION 0
        LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/tensorcc.map)
    install(TARGETS tensorcc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tcc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

if(driver_sources AND compiler_sources)
    add_executable(tcc ${driver_sources})
    tcc_flags(tcc)
    target_link_libraries(tcc PRIVATE tensorcc)
    set_target_properties(tcc PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS tcc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
