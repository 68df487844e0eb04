//! TLS to Postgres, against a real server behind a proxy that speaks it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;

use crate::support::{NOTES, add, bodies};
use munshi_store::{DatabaseAddress, Db, Error, MIGRATIONS, StoreOptions};
use munshi_test_support::database::server_url;
use munshi_test_support::{DatabaseEngine, TestDb};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Answers Postgres's request for encryption, then carries the plain text on to the server.
async fn encrypting_proxy(
    server: SocketAddr,
    acceptor: TlsAcceptor,
) -> (SocketAddr, tokio::task::JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        let mut lines = tokio::task::JoinSet::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            lines.spawn(async move {
                let mut request = [0; 8];
                client.read_exact(&mut request).await.unwrap();
                client.write_all(b"S").await.unwrap();
                let Ok(mut client) = acceptor.accept(client).await else { return };
                let mut server = TcpStream::connect(server).await.unwrap();
                let _ended = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (address, tasks)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_checked_against_the_given_authority() {
    let test = TestDb::open(DatabaseEngine::Postgres, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let authority = test.place.folder().join("authority.pem");
    std::fs::write(&authority, signed.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![signed.cert.der().clone()], key)
            .unwrap();
    let plain = server_url();
    let server = plain.split_once('@').unwrap().1.split_once('/').unwrap().0.to_owned();
    let (proxy, _tasks) =
        encrypting_proxy(server.parse().unwrap(), TlsAcceptor::from(Arc::new(config))).await;
    let url = |host: &str, more: &str| -> DatabaseAddress {
        let there =
            test.place.postgres_url("munshi_owner").replace(&server, &format!("{host}:{}", proxy.port()));
        there.replace("sslmode=disable", &format!("sslmode=require{more}")).parse().unwrap()
    };
    let trusted = format!("&sslrootcert={}", authority.display());

    let db = Db::open(&url("localhost", &trusted), &StoreOptions::default(), &test.migrations).await.unwrap();
    db.write(tenant, |tx| add(tx, "sealed")).await.unwrap();
    assert_eq!(db.read(tenant, bodies).await.unwrap(), ["sealed"]);

    let unknown =
        Db::open(&url("localhost", ""), &StoreOptions::default(), &test.migrations).await.unwrap_err();
    assert!(matches!(&unknown, Error::Unavailable { what, .. } if what.contains("certificate")), "{unknown}");
    let misnamed =
        Db::open(&url("127.0.0.1", &trusted), &StoreOptions::default(), &test.migrations).await.unwrap_err();
    assert!(
        matches!(&misnamed, Error::Unavailable { what, .. } if what.contains("certificate")),
        "{misnamed}"
    );
    let missing = url("localhost", "&sslrootcert=/nowhere/authority.pem");
    let missing = Db::open(&missing, &StoreOptions::default(), &test.migrations).await.unwrap_err();
    assert!(matches!(&missing, Error::Address(what) if what.contains("/nowhere/authority.pem")), "{missing}");
}
