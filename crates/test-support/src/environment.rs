//! What `scripts/test.sh` starts or installs for the tests. A test that needs one of them fails without it.

use std::path::PathBuf;

#[allow(clippy::disallowed_methods, reason = "the script that runs the tests says here what it has started")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests with scripts/test.sh"))
}

/// Where a real model serves OpenAI's and Anthropic's wires.
pub fn model() -> String {
    variable("MUNSHI_TEST_MODEL")
}

/// Where connectors that nobody here wrote are installed.
pub fn connectors() -> PathBuf {
    variable("MUNSHI_TEST_CONNECTORS").into()
}

/// The folder of the official Python clients.
pub fn official_clients() -> PathBuf {
    variable("MUNSHI_TEST_CLIENTS").into()
}
