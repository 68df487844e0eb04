//! The product's own binary, started as a person would start it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::process;

const PATIENCE: Duration = Duration::from_secs(30);

/// The binary beside this program, where it was built.
pub(crate) fn find_binary() -> Result<Option<PathBuf>> {
    let binary = std::env::current_exe()?.with_file_name("munshi");
    if binary.is_file() {
        return Ok(Some(binary));
    }
    println!("\nBuild the binary first: cargo build --release -p munshi");
    Ok(None)
}

/// What a command of the binary says.
pub(crate) fn run_binary(
    binary: &Path,
    folder: &Path,
    settings: &[(&str, &str)],
    words: &[&str],
) -> Result<String> {
    let mut command = Command::new(binary);
    command.args(words).env("MUNSHI__DATA__DIR", folder).envs(settings.iter().copied());
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// A running server; it is asked to stop, and waited for, when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) ready_after: Duration,
}

impl Server {
    pub(crate) fn start(binary: &Path, folder: &Path, settings: &[(&str, &str)]) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new(binary);
        command.arg("serve").env("MUNSHI__DATA__DIR", folder);
        command.env("MUNSHI__SERVER__LISTEN", address.to_string());
        command.envs(settings.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let began = Instant::now();
        let child = command.spawn()?;
        let mut server = Self { child, address, ready_after: Duration::ZERO };
        while !is_ready(address) {
            if let Some(status) = server.child.try_wait()? {
                bail!("`munshi serve` ended with {status}");
            }
            ensure!(began.elapsed() < PATIENCE, "`munshi serve` is not ready after {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        server.ready_after = began.elapsed();
        Ok(server)
    }

    pub(crate) fn resident_kilobytes(&self) -> Result<f64> {
        process::resident_kilobytes(&self.child.id().to_string())
    }

    pub(crate) fn processor_time(&self) -> Result<Duration> {
        process::processor_time(&self.child.id().to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status();
        if asked.is_err() && self.child.kill().is_err() {
            println!("the server {id} could not be stopped");
        }
        let _status = self.child.wait();
    }
}

/// One plain request; anything but 200 means not yet.
fn is_ready(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(100))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer.starts_with(b"HTTP/1.1 200"))
    };
    ask().unwrap_or(false)
}
