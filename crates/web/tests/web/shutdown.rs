//! A stop finishes what is in flight, and nothing holds it up for longer than the grace.

use std::time::{Duration, Instant};

use crate::web::support::{IN_FLIGHT, Running, open, options};
use munshi_test_support::PATIENCE;
use munshi_web::{Error, HttpServer, ServerOptions};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

async fn read_some(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let read = stream.read(&mut buffer).await.unwrap();
    String::from_utf8_lossy(&buffer[..read]).into_owned()
}

async fn read_rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A cut connection may end in a reset; what came before it counts.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn what_is_in_flight_is_finished_and_nothing_new_is_taken() {
    let server = Running::start().await;
    let address = server.address;
    let mut busy = open(address, "GET /test/in-flight HTTP/1.1\r\nhost: test\r\n\r\n").await;
    IN_FLIGHT.acquire().await.unwrap().forget();
    let stopped = server.stopped().await;
    assert_eq!(stopped.cut_off, 0);
    let answer = read_rest(&mut busy).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("done"), "{answer}");
    assert!(TcpStream::connect(address).await.is_err(), "the port is still open");
}

#[tokio::test]
async fn idle_connections_and_live_feeds_do_not_hold_it_up() {
    let patient = ServerOptions { header_timeout: PATIENCE * 2, shutdown_grace: PATIENCE * 2, ..options() };
    let server = Running::start_with(patient).await;
    let mut idle = open(server.address, "GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert!(read_some(&mut idle).await.starts_with("HTTP/1.1 200"));
    let _silent = open(server.address, "").await;
    let mut live = open(server.address, "GET /test/live HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert!(read_some(&mut live).await.starts_with("HTTP/1.1 200"));
    let started = Instant::now();
    assert_eq!(server.stopped().await.cut_off, 0);
    assert!(started.elapsed() < PATIENCE, "it took {:?}", started.elapsed());
    assert!(read_rest(&mut live).await.ends_with("0\r\n\r\n"), "the feed was broken off, not ended");
}

#[tokio::test]
async fn an_endless_stream_is_cut_after_the_grace_and_counted() {
    let server = Running::start().await;
    let mut endless = open(server.address, "GET /test/events HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert!(read_some(&mut endless).await.starts_with("HTTP/1.1 200"));
    let started = Instant::now();
    server.stop();
    server.app.shutdown_token().cancelled().await;
    assert!(TcpStream::connect(server.address).await.is_err(), "the port is open while it stops");
    assert_eq!(server.stopped().await.cut_off, 1);
    let took = started.elapsed();
    assert!(took > Duration::from_millis(1400), "it was cut before the grace: {took:?}");
    assert!(took < Duration::from_secs(30), "it took {took:?}");
    assert!(!read_rest(&mut endless).await.ends_with("0\r\n\r\n"));
}

#[tokio::test]
async fn handlers_are_told_that_the_server_stops() {
    let server = Running::start().await;
    let app = server.app.clone();
    assert!(!app.shutdown_token().is_cancelled());
    server.stopped().await;
    assert!(app.shutdown_token().is_cancelled());
}

#[tokio::test]
async fn a_taken_address_says_what_to_do() {
    let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = other.local_addr().unwrap().to_string();
    let error = HttpServer::bind(&address).await.unwrap_err();
    assert!(matches!(&error, Error::AddressInUse { .. }), "{error}");
    let words = error.to_string();
    assert!(words.contains(&address) && words.contains("hint: stop the other program"), "{words}");
    for bad in ["not an address", "192.0.2.1:80", "127.0.0.1"] {
        let error = HttpServer::bind(bad).await.unwrap_err();
        assert!(error.to_string().contains(&format!("can't listen on {bad}")), "{error}");
    }
}
