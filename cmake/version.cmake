# Sets heddle_version to the version that include/heddle.h states, and checks that it states one.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/heddle.h lines REGEX "^#define HEDDLE_VERSION")
foreach(part MAJOR MINOR PATCH)
    string(REGEX REPLACE ".*#define HEDDLE_VERSION_${part} +([0-9]+).*" "\\1" ${part} "${lines}")
endforeach()
string(REGEX REPLACE ".*#define HEDDLE_VERSION +\"([^\"]*)\".*" "\\1" heddle_version "${lines}")
if(NOT heddle_version STREQUAL "${MAJOR}.${MINOR}.${PATCH}")
    message(FATAL_ERROR "include/heddle.h: HEDDLE_VERSION is ${heddle_version}, but its numbers are ${MAJOR}, ${MINOR} and ${PATCH}")
endif()
