# cmake -D OUT=x.c -D NAME=x -D FILES=a;b -P embed.cmake
# Writes a C file that holds the bytes of FILES as the table declared with base/embedded.h:
# x_files[x_count], sorted by name. A zero byte, not counted, follows each file.
list(SORT FILES)
list(LENGTH FILES count)
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    file(SIZE ${file} size)
    get_filename_component(leaf ${file} NAME)
    string(APPEND arrays "static const unsigned char file${index}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${leaf}\", file${index}, ${size}},\n")
    math(EXPR index "${index} + 1")
endforeach()
if(count EQUAL 0)
    set(rows "    {0, 0, 0},\n")
endif()
file(WRITE ${OUT} "#include \"base/embedded.h\"\n
extern const EmbeddedFile ${NAME}_files[];
extern const size_t ${NAME}_count;
${arrays}
const EmbeddedFile ${NAME}_files[] = {\n${rows}};
const size_t ${NAME}_count = ${count};\n")
