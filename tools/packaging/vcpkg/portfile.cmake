# A port for vcpkg: `vcpkg install cairn --overlay-ports=tools/packaging/vcpkg`. It has not been run.
#
# It builds the library of the repository that this folder lies in.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

set(OPTIONS -Dtests=disabled -Dtool=disabled -Dpython=disabled -Dlibdeflate=enabled)
foreach(FEATURE IN ITEMS s3 zfp)
  if(FEATURE IN_LIST FEATURES)
    list(APPEND OPTIONS "-D${FEATURE}=enabled")
  else()
    list(APPEND OPTIONS "-D${FEATURE}=disabled")
  endif()
endforeach()

vcpkg_configure_meson(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${OPTIONS})
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/cairn)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
