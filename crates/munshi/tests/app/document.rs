//! The whole API document, tried against the binary by Schemathesis: a short and always the same run.
//! `scripts/schemathesis.sh run 200` is a long one.

use std::process::Command;

#[test]
fn every_operation_answers_as_the_document_says() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/schemathesis.sh");
    let run = Command::new(script)
        .args(["run", "2"])
        .env("MUNSHI_BIN", env!("CARGO_BIN_EXE_munshi"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{told}\n{}", String::from_utf8_lossy(&run.stderr));
    assert!(told.contains("0 answered 5xx; 0 never answered 2xx"), "{told}");
}
