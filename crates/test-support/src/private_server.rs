//! A Postgres of a test's own, for what would disturb the others.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Runs until dropped.
pub struct PrivateServer {
    child: Child,
    /// As the superuser.
    pub url: String,
}

impl PrivateServer {
    pub fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres.sh");
        let mut child = Command::new(script)
            .args(["run", "sh", "-c", "echo $MUNSHI_TEST_POSTGRES; cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // The script waits for its input to end, then stops the server.
        drop(self.child.stdin.take());
        let _status = self.child.wait();
    }
}
