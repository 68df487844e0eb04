//! What every response carries: the request's id, careful headers, compression where it pays.

use std::net::SocketAddr;

use crate::web::support::{Reply, Running, exchange, get, open};
use tokio::io::AsyncReadExt;
use uuid::Uuid;

async fn with_id(address: SocketAddr, id: &[u8]) -> Reply {
    let mut bytes = b"GET /test/id HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx-request-id: ".to_vec();
    bytes.extend(id);
    bytes.extend(b"\r\n\r\n");
    exchange(address, bytes).await
}

#[tokio::test]
async fn a_sane_request_id_is_kept_and_reaches_the_handler() {
    let server = Running::start().await;
    for id in ["a", "01890a5d-ac96-774b-bcce-b302099a8057", "Root=1-67891233:abc_d.9", &"x".repeat(128)] {
        let reply = with_id(server.address, id.as_bytes()).await;
        assert_eq!((reply.header("x-request-id"), reply.text()), (id, id));
    }
}

#[tokio::test]
async fn a_hostile_request_id_is_replaced() {
    let server = Running::start().await;
    let hostile: [&[u8]; 7] =
        [b"", &[b'x'; 129], "दुकान".as_bytes(), b"a b", b"<script>", b"one\r\nx-request-id: two", b"\xff\xfe"];
    let mut seen = std::collections::BTreeSet::new();
    for id in hostile {
        let reply = with_id(server.address, id).await;
        assert_eq!(reply.status, 200, "{id:?}");
        let made: Uuid = reply.header("x-request-id").parse().unwrap();
        assert_eq!(made.get_version_num(), 7);
        assert_eq!(reply.text(), reply.header("x-request-id"));
        assert!(seen.insert(made), "an id came twice");
    }
}

#[tokio::test]
async fn a_line_break_in_a_request_id_starts_no_header_of_its_own() {
    let server = Running::start().await;
    let reply = with_id(server.address, b"a\r\nset-cookie: stolen=1").await;
    assert_eq!(reply.header("x-request-id"), "a");
    assert_eq!(reply.header("set-cookie"), "");
    // A bare line break is no HTTP at all: the connection is refused before any handler sees it.
    let reply = with_id(server.address, b"a\rb").await;
    assert_eq!(reply.status, 400);
}

#[tokio::test]
async fn browsers_are_told_to_be_careful() {
    let server = Running::start().await;
    for path in ["/healthz", "/nowhere", "/test/panic"] {
        let reply = get(server.address, path, "").await;
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(reply.header("x-frame-options"), "DENY");
        assert_eq!(reply.header("referrer-policy"), "no-referrer");
        assert_eq!(reply.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(reply.header("cache-control"), "no-store");
        assert!(reply.header("content-security-policy").starts_with("default-src 'none'"));
    }
    let page = get(server.address, "/", "accept: text/html\r\n").await;
    assert!(page.header("content-security-policy").contains("style-src"), "a page's own policy is kept");
}

#[tokio::test]
async fn large_answers_are_compressed_for_those_who_ask() {
    let server = Running::start().await;
    let plain = get(server.address, "/test/large", "").await;
    assert_eq!((plain.header("content-encoding"), plain.body.len()), ("", 8000));
    let packed = get(server.address, "/test/large", "accept-encoding: gzip, br\r\n").await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.body[..2], [0x1f, 0x8b]);
    assert!(packed.body.len() < 500, "{} bytes", packed.body.len());
    let small = get(server.address, "/healthz", "accept-encoding: gzip\r\n").await;
    assert_eq!(small.header("content-encoding"), "");
}

#[tokio::test]
async fn event_streams_are_never_compressed() {
    let server = Running::start().await;
    let reply = get(server.address, "/test/large-events", "accept-encoding: gzip\r\n").await;
    assert_eq!(reply.header("content-encoding"), "");
    assert!(reply.text().starts_with("data: xxx"));
}

#[tokio::test]
async fn a_stream_outlives_the_request_timeout() {
    let server = Running::start().await;
    let mut stream = open(server.address, "GET /test/events HTTP/1.1\r\nhost: test\r\n\r\n").await;
    let started = std::time::Instant::now();
    let (mut buffer, mut events) = ([0; 4096], 0);
    while started.elapsed() < std::time::Duration::from_millis(1300) {
        let read = stream.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "the stream was ended after {:?}", started.elapsed());
        events += String::from_utf8_lossy(&buffer[..read]).matches("data: tick").count();
    }
    assert!(events > 10, "{events} events");
}

#[tokio::test]
async fn head_has_the_headers_of_get_and_no_body() {
    let server = Running::start().await;
    for (path, status) in [("/healthz", 200), ("/nowhere", 404)] {
        let head = format!("HEAD {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
        let reply = exchange(server.address, head).await;
        assert_eq!((reply.status, reply.body.len()), (status, 0), "{path}");
        assert!(!reply.header("x-request-id").is_empty());
    }
}
