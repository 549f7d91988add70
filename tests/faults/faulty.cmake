# The program tests/faults: faults.c with the command and the library inside it, whose calls to the
# system are the wrappers of calls.c. The names come from the rows of calls.def and from the
# definitions in calls.c.
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/faults)
set(out ${CMAKE_CURRENT_BINARY_DIR}/faulty)
file(MAKE_DIRECTORY ${out})

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/calls.def ${folder}/calls.c)
file(STRINGS ${folder}/calls.def rows REGEX "^CALL")
file(STRINGS ${folder}/calls.c definitions REGEX "^[a-z].*fault_[a-z_]*\\(.*\\) {")
set(names "main driver_main\n")
foreach(row IN LISTS rows)
    string(REGEX REPLACE "^CALL\\([^,]*, ([a-z_]+),.*" "\\1" name "${row}")
    string(APPEND names "${name} fault_${name}\n")
endforeach()
foreach(definition IN LISTS definitions)
    string(REGEX REPLACE ".*fault_([a-z_]+)\\(.*" "\\1" name "${definition}")
    string(APPEND names "${name} fault_${name}\n")
endforeach()
file(WRITE ${out}/names "${names}")

set(archives)
foreach(library driver compiler frontend passes codegen runtime ir base)
    set(archive ${out}/${library}.a)
    if(library STREQUAL driver)
        set(objects $<TARGET_OBJECTS:tcc>)
    elseif(library STREQUAL compiler)
        set(objects $<TARGET_OBJECTS:tensorcc>)
    else()
        set(objects)
    endif()
    if(objects)
        add_custom_command(OUTPUT ${archive}
            COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
            COMMAND ${CMAKE_AR} rcs ${archive} ${objects}
            COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${out}/names ${archive}
            DEPENDS ${objects} ${out}/names VERBATIM COMMAND_EXPAND_LISTS)
    else()
        add_custom_command(OUTPUT ${archive}
            COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${out}/names
                $<TARGET_FILE:tcc_${library}> ${archive}
            DEPENDS tcc_${library} ${out}/names VERBATIM)
    endif()
    list(APPEND archives ${archive})
endforeach()

file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
add_executable(faults ${sources} ${archives})
tcc_flags(faults)
target_link_libraries(faults PRIVATE -Wl,--start-group ${archives} -Wl,--end-group
    tcc_llvm_shared PkgConfig::JANSSON PkgConfig::ZSTD PkgConfig::ZLIB Threads::Threads
    ${CMAKE_DL_LIBS} m)
