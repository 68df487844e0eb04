//! Ports for programs that have to be told one.

use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;

/// Below what the system gives to whoever asks for any port, so that nobody else is given it before the program listens.
const CHOICE: std::ops::Range<u64> = 10_000..32_000;

/// A loopback port that nobody listens at. Two tests choose the same in the same second about never.
pub fn choose_port() -> u16 {
    loop {
        let drawn = RandomState::new().hash_one(std::process::id());
        let port = u16::try_from(CHOICE.start + drawn % (CHOICE.end - CHOICE.start)).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
