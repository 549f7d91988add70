# tcc_folder(NAME PATTERN...): the sources matching PATTERN/*.c become the static library tcc_NAME.
# A folder without sources becomes an interface library, so that all others can name it.
# TCC_SCOPE_NAME is the scope with which the library's own dependencies are added.
function(tcc_folder name)
    list(TRANSFORM ARGN APPEND "/*.c" OUTPUT_VARIABLE patterns)
    list(TRANSFORM patterns PREPEND "${CMAKE_SOURCE_DIR}/")
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    if(NOT sources AND NOT name MATCHES "^(frontend|codegen)$") # these two hold generated files
        add_library(tcc_${name} INTERFACE)
        set(TCC_SCOPE_${name} INTERFACE PARENT_SCOPE)
        return()
    endif()
    add_library(tcc_${name} STATIC ${sources})
    tcc_flags(tcc_${name})
    set(TCC_SCOPE_${name} PUBLIC PARENT_SCOPE)
endfunction()

# tcc_parser(TARGET FOLDER): FOLDER/parser.y and lexer.l, where present, become FOLDER/parser.{c,h}
# and FOLDER/lexer.{c,h} under build/generated, compiled into TARGET without our warnings.
function(tcc_parser target folder)
    set(out ${CMAKE_BINARY_DIR}/generated/${folder})
    file(MAKE_DIRECTORY ${out})
    file(GLOB grammar CONFIGURE_DEPENDS ${folder}/parser.y)
    file(GLOB lexer CONFIGURE_DEPENDS ${folder}/lexer.l)
    if(grammar)
        find_program(BISON bison REQUIRED)
        add_custom_command(OUTPUT ${out}/parser.c ${out}/parser.h
            COMMAND ${BISON} -Wall -Werror=conflicts-sr -Werror=conflicts-rr
                --header=${out}/parser.h -o ${out}/parser.c ${folder}/parser.y
            DEPENDS ${grammar} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)
        list(APPEND generated ${out}/parser.c ${out}/parser.h)
    endif()
    if(lexer)
        find_program(FLEX flex REQUIRED)
        add_custom_command(OUTPUT ${out}/lexer.c ${out}/lexer.h
            COMMAND ${FLEX} --header-file=${out}/lexer.h -o ${out}/lexer.c ${folder}/lexer.l
            DEPENDS ${lexer} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)
        list(APPEND generated ${out}/lexer.c ${out}/lexer.h)
    endif()
    set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS "-w")
    target_sources(${target} PRIVATE ${generated})
endfunction()

# tcc_embed(TARGET NAME PATTERN): the files matching PATTERN become the array NAME_files with
# NAME_count entries of base/embedded.h's EmbeddedFile, compiled into TARGET.
function(tcc_embed target name pattern)
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${pattern})
    tcc_embed_files(${target} ${name} "${files}")
endfunction()

function(tcc_embed_files target name files)
    set(out ${CMAKE_BINARY_DIR}/generated/${name}.c)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -D OUT=${out} -D NAME=${name} "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
    target_sources(${target} PRIVATE ${out})
endfunction()
