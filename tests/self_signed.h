// A certificate that nobody has vouched for, as a server in somebody's cellar has one: made for one test, for this
// machine and for the name engine.test.
#pragma once

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace lectern::testing_tls {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Deleter<SSL_free>>;

class SelfSigned {
 public:
  SelfSigned() : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
    X509* const made = certificate_.get();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_NAME* const name = X509_get_subject_name(made);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(made, name);
    X509_set_pubkey(made, key_.get());
    X509_EXTENSION* const names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1,DNS:engine.test");
    X509_add_ext(made, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(made, key_.get(), EVP_sha256());
  }

  // Of a server that shows the certificate.
  Context server_context() const {
    Context context(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(context.get(), certificate_.get());
    SSL_CTX_use_PrivateKey(context.get(), key_.get());
    return context;
  }
  std::string pem() const {
    return text_of([this](BIO* to) { PEM_write_bio_X509(to, certificate_.get()); });
  }
  std::string key_pem() const {
    return text_of(
        [this](BIO* to) { PEM_write_bio_PrivateKey(to, key_.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  }

 private:
  template <class Write>
  static std::string text_of(Write write) {
    BIO* const memory = BIO_new(BIO_s_mem());
    write(memory);
    char* data = nullptr;
    const auto size = static_cast<std::size_t>(BIO_get_mem_data(memory, &data));
    std::string text(data, size);
    BIO_free(memory);
    return text;
  }

  const Key key_;
  const Certificate certificate_;
};

}  // namespace lectern::testing_tls
