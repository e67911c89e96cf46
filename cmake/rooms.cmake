# A room is one folder, one static library, and a list of the rooms it may include.
#
#   heddle_room(engine FROM src/engine USES base)
#
# Headers are included as "engine/engine.h". Each room has an include root of its own that holds nothing
# but a link to its folder, and a library sees the roots of the rooms it uses: a wrong-way include finds
# no file and does not build (tests/build/rules.cmake tries).
function(heddle_room name)
    cmake_parse_arguments(ROOM "FREE" "FROM" "USES;SOURCES" ${ARGN})
    set(folder ${PROJECT_SOURCE_DIR}/${ROOM_FROM})
    set(root ${PROJECT_BINARY_DIR}/rooms/${name})
    file(MAKE_DIRECTORY ${root})
    file(CREATE_LINK ${folder} ${root}/${name} SYMBOLIC)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
    if(NOT sources) # headers alone
        add_library(${name} INTERFACE)
        target_include_directories(${name} INTERFACE ${root})
        target_link_libraries(${name} INTERFACE ${ROOM_USES} heddle_flags)
        return()
    endif()
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${root})
    target_link_libraries(${name} PUBLIC ${ROOM_USES} heddle_flags)
    if(NOT ROOM_FREE) # not allowed to allocate, print or exit on its own
        target_compile_options(${name} PRIVATE -include ${PROJECT_SOURCE_DIR}/src/base/forbid.h)
    endif()
endfunction()
