# cmake --install BUILD --prefix P. What is installed finds its files from where it is (src/base/install.c), so P can be moved.
#
#   bin/heddle
#   lib/libheddle.so, lib/pkgconfig/heddle.pc, lib/cmake/heddle/, include/heddle*.h
#   lib/heddle/       parts of the program, as they lie beside it in a build: cuda/, opencl/, hip/, record/, boot/, cpu/, threads/,
#                     hetero/
#   share/heddle/     systems/, studies/, bench/h200/, bench/r9nano/ (what real GPUs gave)
#   share/man/, share/bash-completion/, share/zsh/, share/fish/
set(parts ${CMAKE_INSTALL_LIBDIR}/heddle)

install(TARGETS heddle DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS heddle_cuda DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS heddle_preload heddle_mpi DESTINATION ${parts}/cuda)
foreach(library heddle_ranks heddle_ranks_mpich)
    if(TARGET ${library})
        install(TARGETS ${library} DESTINATION ${parts}/ranks)
    endif()
endforeach()
if(TARGET heddle_opencl)
    install(TARGETS heddle_opencl DESTINATION ${parts}/opencl)
    install(FILES ${PROJECT_BINARY_DIR}/opencl/heddle.icd DESTINATION ${parts}/opencl)
endif()
install(TARGETS heddle_hip LIBRARY DESTINATION ${parts}/hip NAMELINK_SKIP)
install(TARGETS heddle_record DESTINATION ${parts}/record)
install(TARGETS heddle_boot heddle_guest DESTINATION ${parts}/boot)
install(TARGETS heddle_cpu DESTINATION ${parts}/cpu)
install(TARGETS ${threads_programs} DESTINATION ${parts}/threads)
install(TARGETS heddle_hetero DESTINATION ${parts}/hetero)
# NVIDIA's names have a folder of their own: only programs that `heddle run` starts should find them.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
foreach(name ${cuda_names} libheddle.so)
    file(CREATE_LINK ../../libheddle.so ${PROJECT_BINARY_DIR}/installed/${name} SYMBOLIC)
    install(FILES ${PROJECT_BINARY_DIR}/installed/${name} DESTINATION ${parts}/cuda)
endforeach()

install(FILES include/heddle.h include/heddle_locality.h include/heddle_plugin.h include/heddle_roi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY systems studies DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle FILES_MATCHING PATTERN "*.ini")
install(DIRECTORY bench/h200 bench/r9nano DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/bench FILES_MATCHING PATTERN "*.csv")
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})

file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/heddle.pc.in ${PROJECT_BINARY_DIR}/heddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/heddle-config.cmake ${PROJECT_BINARY_DIR}/heddle-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)

# Manual pages and completions are made by the command, from its tables.
if(NOT CMAKE_CROSSCOMPILING)
    install(CODE "set(heddle $<TARGET_FILE:heddle>)\nset(man ${CMAKE_INSTALL_MANDIR}/man1)\nset(data ${CMAKE_INSTALL_DATADIR})")
    install(CODE [[
        set(to "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
        file(MAKE_DIRECTORY ${to}/${man} ${to}/${data}/bash-completion/completions ${to}/${data}/zsh/vendor-completions
            ${to}/${data}/fish/vendor_completions.d)
        execute_process(COMMAND ${heddle} help --man ${to}/${man} COMMAND_ERROR_IS_FATAL ANY)
        foreach(place bash:bash-completion/completions/heddle zsh:zsh/vendor-completions/_heddle
                fish:fish/vendor_completions.d/heddle.fish)
            string(REPLACE ":" ";" words ${place})
            list(GET words 0 shell)
            list(GET words 1 file)
            execute_process(COMMAND ${heddle} completion ${shell} OUTPUT_FILE ${to}/${data}/${file}
                COMMAND_ERROR_IS_FATAL ANY)
        endforeach()]])
endif()
