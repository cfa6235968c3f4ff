// Boost.Asio compiled once, here (BOOST_ASIO_SEPARATE_COMPILATION), instead of in every file that includes it.
#include <boost/asio/impl/src.hpp>
