# Debian keeps OpenCVConfig.cmake in libopencv-dev, which pulls in every module and with imgcodecs half of GDAL. We use two
# modules, so they are found by hand: targets opencv_core and opencv_imgproc, from libopencv-{core,imgproc}-dev.
find_path(OPENCV_INCLUDE_DIR opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
foreach(module core imgproc)
  find_library(OPENCV_${module}_LIBRARY opencv_${module} REQUIRED)
  add_library(opencv_${module} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(opencv_${module} PROPERTIES
    IMPORTED_LOCATION "${OPENCV_${module}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${OPENCV_INCLUDE_DIR}")
endforeach()
