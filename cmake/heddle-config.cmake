# find_package(heddle) gives the target heddle::heddle: heddle.h, heddle_plugin.h and libheddle. Found from where this file
# is, so an installation can be moved.
get_filename_component(heddle_libdir ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
get_filename_component(heddle_prefix ${heddle_libdir}/.. ABSOLUTE)
if(NOT TARGET heddle::heddle)
    add_library(heddle::heddle SHARED IMPORTED)
    set_target_properties(heddle::heddle PROPERTIES IMPORTED_LOCATION ${heddle_libdir}/libheddle.so IMPORTED_NO_SONAME ON
        INTERFACE_INCLUDE_DIRECTORIES ${heddle_prefix}/include)
endif()
