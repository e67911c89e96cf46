# A room is one folder, one static library, and a list of the rooms it may include.
#
#   heddle_room(engine FROM src/engine USES base)
#   heddle_room(cachesim_cpu FROM src/cachesim/cpu AS cachesim/cpu USES cachesim base)
#
# Headers are included as "engine/engine.h", or as "cachesim/cpu/run.h" where AS says so. Each room has an include root of
# its own, which holds links to its headers and nothing else. A room sees its own root and those of the rooms it names:
# libraries are linked PRIVATE, so that what a named room uses stays that room's own. If a header of a named room includes a
# header of a third room, the third must be named as well. The list is therefore all that a room can see, even indirectly.
# tests/build/rules.cmake checks this for every pair of rooms.

# heddle_root(target room prefix folder): the target and those that link with it find the room's headers as "prefix/...".
function(heddle_root target name prefix folder)
    set(root ${PROJECT_BINARY_DIR}/rooms/${name})
    file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h ${folder}/*.def)
    file(REMOVE_RECURSE ${root})
    file(MAKE_DIRECTORY ${root}/${prefix})
    foreach(header ${headers}) # one by one: a room inside this folder stays hidden
        get_filename_component(file ${header} NAME)
        file(CREATE_LINK ${header} ${root}/${prefix}/${file} SYMBOLIC)
    endforeach()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
        target_include_directories(${target} INTERFACE ${root})
    else()
        target_include_directories(${target} PUBLIC ${root})
    endif()
    set_property(GLOBAL APPEND_STRING PROPERTY heddle_notes
        "set(headers_${name} ${headers})\nset(prefix_${name} ${prefix})\n")
endfunction()

# heddle_note(target name room...): notes which rooms the target names and which roots it really has, for the test.
function(heddle_note target name)
    list(JOIN ARGN " " uses)
    set(roots "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set_property(GLOBAL APPEND_STRING PROPERTY heddle_notes
        "list(APPEND rooms ${name})\nset(uses_${name} ${uses})\nset(roots_${name} ${roots})\n")
endfunction()

# heddle_write_notes(): puts all notes into rooms.cmake of the build folder.
function(heddle_write_notes)
    get_property(notes GLOBAL PROPERTY heddle_notes)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/rooms.cmake CONTENT "${notes}")
endfunction()

function(heddle_room name)
    cmake_parse_arguments(ROOM "FREE" "FROM;AS" "USES" ${ARGN})
    set(folder ${PROJECT_SOURCE_DIR}/${ROOM_FROM})
    if(NOT ROOM_AS)
        set(ROOM_AS ${name})
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
    if(NOT sources) # headers alone: a room that includes them names what they include
        add_library(${name} INTERFACE)
        heddle_root(${name} ${name} ${ROOM_AS} ${folder})
        target_link_libraries(${name} INTERFACE heddle_flags)
        return()
    endif()
    add_library(${name} STATIC ${sources})
    heddle_root(${name} ${name} ${ROOM_AS} ${folder})
    target_link_libraries(${name} PUBLIC heddle_flags PRIVATE ${ROOM_USES})
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
        # What gcc suspects at -O3 alone is mostly wrong.
        target_compile_options(${name} PRIVATE -Wno-format-truncation -Wno-maybe-uninitialized)
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_INTERPROCEDURAL_OPTIMIZATION)
        target_compile_options(${name} PRIVATE -ffat-lto-objects) # machine code, too: tests are linked without LTO
    endif()
    if(NOT ROOM_FREE) # not allowed to allocate, print or exit on its own
        target_compile_options(${name} PRIVATE -include ${PROJECT_SOURCE_DIR}/src/base/forbid.h)
    endif()
    heddle_note(${name} ${name} ${ROOM_USES})
endfunction()
