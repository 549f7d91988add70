# tcc_runtime_object(TARGET NAME): runtime/*.c once more, as the one relocatable object that every
# model.so links, embedded into TARGET as NAME_files[0]. It is never sanitised and holds no debug
# information, so that its bytes depend on the sources and the compiler alone.
function(tcc_runtime_object target name)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/*.c)
    if(NOT sources)
        tcc_embed_files(${target} ${name} "")
        return()
    endif()
    add_library(tcc_runtime_pic OBJECT ${sources})
    target_compile_options(tcc_runtime_pic PRIVATE ${TCC_WARNINGS}
        -O2 -g0 -fPIC -fno-asynchronous-unwind-tables -fno-stack-protector -fcf-protection=none)
    target_include_directories(tcc_runtime_pic PRIVATE
        ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
    set(object ${CMAKE_BINARY_DIR}/generated/runtime.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_LINKER} -r -x -o ${object} $<TARGET_OBJECTS:tcc_runtime_pic>
        DEPENDS tcc_runtime_pic $<TARGET_OBJECTS:tcc_runtime_pic>
        COMMAND_EXPAND_LISTS VERBATIM)
    tcc_embed_files(${target} ${name} ${object})
endfunction()
