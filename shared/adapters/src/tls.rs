//! One TLS library for the whole process. Qdrant's client brings ring, so the others use it too: a second one would make
//! every function larger and slower to start.

use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};

/// What AWS clients use.
pub fn provider() -> Provider {
    Provider::Rustls(CryptoMode::Ring)
}

/// Makes it what a client uses that asks for no library by name. Such a client cannot be made before.
pub fn install() {
    // A second call finds the first one's.
    let _installed_before = rustls::crypto::ring::default_provider().install_default();
}
