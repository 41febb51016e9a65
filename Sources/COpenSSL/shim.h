// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_COPENSSL_SHIM_H
#define CUECAST_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Functions for OpenSSL's macros.
static inline int cuecast_ssl_set_versions(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1;
}
static inline void cuecast_ssl_set_modes(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
static inline long cuecast_ssl_add_chain(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add0_chain_cert(context, certificate);
}
static inline int cuecast_ssl_set_groups(SSL_CTX *context, const char *groups) {
  return SSL_CTX_set1_groups_list(context, groups) == 1;
}
// What a client asks of the server's certificate, and says of whom it means.
static inline void cuecast_ssl_verify_peer(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
}
static inline int cuecast_ssl_expect_server(SSL *ssl, const char *server) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server) == 1) return 1;
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl, server) == 1 && SSL_set_tlsext_host_name(ssl, server) == 1;
}
static inline void cuecast_bio_wants_bytes(BIO *bio) {
  BIO_clear_retry_flags(bio);
  BIO_set_retry_read(bio);
}
static inline void cuecast_bio_went_on(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline int cuecast_error_reason(unsigned long error) { return ERR_GET_REASON(error); }
static inline int cuecast_error_is_end_of_pem(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

#endif
