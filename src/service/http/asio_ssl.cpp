// Asio's TLS compiled once, here, as Asio itself is in base/asio.cpp.
#include <boost/asio/ssl/impl/src.hpp>
