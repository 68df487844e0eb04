//! A small C library put before the system's, so that a test sees when data reaches the disk, and a benchmark can
//! have the disk of an ordinary machine. `shim.c` says what it can do.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the shim into `folder` with the system's C compiler, which building SQLite needs anyway.
pub fn build(folder: &Path) -> PathBuf {
    let source = folder.join("shim.c");
    let library = folder.join("shim.so");
    std::fs::write(&source, include_str!("shim.c")).unwrap();
    let compiler = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o"])
        .args([&library, &source])
        .args(["-ldl", "-lpthread"])
        .status()
        .expect("a C compiler named cc");
    assert!(compiler.success(), "the shim did not compile");
    library
}
