# Flags that hold for every file of ours. Generated parser code is excepted from the warnings.
add_compile_options(-fno-math-errno -ffunction-sections -fdata-sections)
# clock_gettime, posix_spawn, fsync and the like, which -std=c11 alone hides.
add_compile_definitions(_GNU_SOURCE)
# No name of the build machine's folders in any binary.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

# Sums and products keep their rounding: gcc would contract a*b+c by default outside ISO modes.
add_compile_options(-ffp-contract=off)

if(TCC_SANITIZE STREQUAL "address")
    set(TCC_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(TCC_SANITIZE STREQUAL "thread")
    set(TCC_SANITIZE_FLAGS -fsanitize=thread)
elseif(TCC_SANITIZE STREQUAL "fuzzer") # for tests/fuzz/parsers, with clang
    set(TCC_SANITIZE_FLAGS -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
elseif(TCC_SANITIZE)
    message(FATAL_ERROR
        "TCC_SANITIZE is '${TCC_SANITIZE}': use address, thread, fuzzer or nothing")
endif()

set(TCC_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(TCC_WERROR)
    list(APPEND TCC_WARNINGS -Werror)
endif()

# These two guess from the optimiser's view, which the sanitizers' own code confuses.
if(TCC_SANITIZE AND NOT TCC_SANITIZE STREQUAL "fuzzer")
    list(APPEND TCC_WARNINGS -Wno-clobbered -Wno-maybe-uninitialized)
endif()

# tcc_flags(TARGET): what every target of ours is compiled with.
function(tcc_flags target)
    target_compile_options(${target} PRIVATE ${TCC_WARNINGS} ${TCC_SANITIZE_FLAGS})
    target_link_options(${target} PRIVATE ${TCC_SANITIZE_FLAGS})
    target_include_directories(${target} PRIVATE
        ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/generated)
endfunction()
