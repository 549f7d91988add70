# LLVM 19, linked statically: the target tcc_llvm carries its headers and its archives.
find_program(LLVM_CONFIG NAMES llvm-config-19 llvm-config HINTS /usr/lib/llvm-19/bin REQUIRED)

function(llvm_config out)
    execute_process(COMMAND ${LLVM_CONFIG} --link-static ${ARGN}
        OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(words UNIX_COMMAND "${text}")
    set(${out} ${words} PARENT_SCOPE)
endfunction()

llvm_config(LLVM_VERSION --version)
if(NOT LLVM_VERSION MATCHES "^19\\.")
    message(FATAL_ERROR "${LLVM_CONFIG} is of LLVM ${LLVM_VERSION}; LLVM 19 is needed")
endif()
llvm_config(LLVM_INCLUDE --includedir)
llvm_config(LLVM_LIBDIR --libdir)
llvm_config(LLVM_LIBS --libs x86 nvptx orcjit passes irreader bitreader bitwriter linker)
llvm_config(LLVM_SYSTEM --system-libs)

add_library(tcc_llvm INTERFACE)
target_include_directories(tcc_llvm SYSTEM INTERFACE ${LLVM_INCLUDE})
target_link_directories(tcc_llvm INTERFACE ${LLVM_LIBDIR})
target_link_libraries(tcc_llvm INTERFACE ${LLVM_LIBS} -Wl,--as-needed ${LLVM_SYSTEM} stdc++ m)
