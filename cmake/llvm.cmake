# LLVM 19: its headers, its archives, and its shared library.
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
find_library(LLVM_SHARED NAMES LLVM-19 HINTS ${LLVM_LIBDIR} REQUIRED)

# tcc_llvm carries the headers alone. What is linked in the end names one of the other two: the
# product has LLVM inside it, unit tests take LLVM's shared library, which links in no time.
add_library(tcc_llvm INTERFACE)
target_include_directories(tcc_llvm SYSTEM INTERFACE ${LLVM_INCLUDE})

add_library(tcc_llvm_static INTERFACE)
target_link_directories(tcc_llvm_static INTERFACE ${LLVM_LIBDIR})
target_link_libraries(tcc_llvm_static INTERFACE
    ${LLVM_LIBS} -Wl,--as-needed ${LLVM_SYSTEM} -l:libstdc++.a m)

add_library(tcc_llvm_shared INTERFACE)
target_link_libraries(tcc_llvm_shared INTERFACE -Wl,--as-needed ${LLVM_SHARED})
# A hundred programs are linked with it, and GNU ld takes five times as long as gold for each.
find_program(GOLD ld.gold)
if(GOLD AND NOT TCC_SANITIZE) # which it warns of by the page
    target_link_options(tcc_llvm_shared INTERFACE -fuse-ld=gold)
endif()
