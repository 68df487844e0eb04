//! Time, size and number are bounded.

use std::time::{Duration, Instant};

use crate::web::support::{Running, exchange, get, open, options};
use munshi_test_support::PATIENCE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn a_handler_that_takes_too_long_is_503() {
    let server = Running::start().await;
    let started = Instant::now();
    let reply = get(server.address, "/test/slow", "").await;
    assert_eq!((reply.status, reply.error_code().as_str()), (503, "timeout"));
    assert!(!reply.header("retry-after").is_empty());
    assert!(started.elapsed() < PATIENCE);
}

#[tokio::test]
async fn a_client_that_takes_too_long_to_send_is_408() {
    let server = Running::start().await;
    let half =
        "POST /test/bytes HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 100\r\n\r\nhalf";
    let reply = exchange(server.address, half).await;
    assert_eq!((reply.status, reply.error_code().as_str()), (408, "slow_request"));
}

#[tokio::test]
async fn a_handler_that_has_its_body_and_takes_too_long_is_503() {
    let server = Running::start().await;
    let head = "POST /test/slow HTTP/1.1\r\nhost: test\r\nconnection: close\r\n";
    for body in ["content-length: 4\r\n\r\nrice", "transfer-encoding: chunked\r\n\r\n4\r\nrice\r\n0\r\n\r\n"]
    {
        let reply = exchange(server.address, format!("{head}{body}")).await;
        assert_eq!((reply.status, reply.error_code().as_str()), (503, "timeout"));
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_however_it_is_sent() {
    let server = Running::start().await;
    let head = "POST /test/bytes HTTP/1.1\r\nhost: test\r\nconnection: close\r\n";
    let (fits, over) = ("x".repeat(1000), "x".repeat(1001));
    let announced = |body: &str| format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let chunked = |body: &str| {
        let (first, second) = body.split_at(500);
        format!(
            "{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
            first.len(),
            second.len()
        )
    };
    for request in [announced(&over), chunked(&over)] {
        let reply = exchange(server.address, request).await;
        assert_eq!((reply.status, reply.error_code().as_str()), (413, "too_large"));
    }
    for request in [announced(&fits), chunked(&fits)] {
        assert_eq!(exchange(server.address, request).await.text(), "1000");
    }
}

#[tokio::test]
async fn an_announced_giant_is_refused_before_it_is_sent() {
    let server = Running::start().await;
    for length in ["1001", "99999999999"] {
        let head = format!("POST /test/bytes HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n\r\n");
        let reply = exchange(server.address, head).await;
        assert_eq!((reply.status, reply.error_code().as_str()), (413, "too_large"));
        let words = format!("The request body has {length} bytes; the limit is 1000.");
        assert_eq!(reply.json()["error"]["message"], words);
    }
}

#[tokio::test]
async fn no_other_limit_stands_before_ours() {
    let length = 3 * 1024 * 1024;
    let server = Running::start_with(munshi_web::ServerOptions { body_limit: length, ..options() }).await;
    let head = "POST /test/bytes HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length:";
    let reply = exchange(server.address, format!("{head} {length}\r\n\r\n{}", "x".repeat(length))).await;
    assert_eq!((reply.status, reply.text()), (200, "3145728"));
}

#[tokio::test]
async fn json_over_the_limit_is_413_too() {
    let server = Running::start().await;
    let head =
        "POST /test/order HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-type: application/json\r\n";
    let body = format!("{{\"item\":\"{}\"}}", "x".repeat(2000));
    let request = format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let reply = exchange(server.address, request).await;
    assert_eq!((reply.status, reply.error_code().as_str()), (413, "too_large"));
}

/// How long the server leaves a connection open on which nothing more comes.
async fn patience_with(server: &Running, bytes: &str) -> Duration {
    let mut stream = open(server.address, bytes).await;
    let (started, mut rest) = (Instant::now(), Vec::new());
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    read.expect("the server closes the connection").unwrap();
    started.elapsed()
}

#[tokio::test]
async fn half_open_and_idle_connections_are_closed() {
    let server = Running::start().await;
    for bytes in ["", "GET /healthz HTT", "GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n"] {
        let waited = patience_with(&server, bytes).await;
        assert!(waited > Duration::from_millis(500), "{bytes:?} was closed after {waited:?}");
        assert!(waited < Duration::from_secs(30), "{bytes:?} was closed after {waited:?}");
    }
}

#[tokio::test]
async fn a_connection_over_the_bound_waits_for_its_turn() {
    let server = Running::start_with(munshi_web::ServerOptions { max_connections: 1, ..options() }).await;
    let mut first = open(server.address, "GET /test/events HTTP/1.1\r\nhost: test\r\n\r\n").await;
    first.read_u8().await.unwrap();
    let mut second = open(server.address, "").await;
    second.write_all(b"GET /healthz HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(200), second.read_u8()).await;
    assert!(early.is_err(), "the second was served beside the first");
    drop(first);
    let mut text = String::new();
    second.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
}
