//! Start to ready of the release binary on an existing database, and its memory at rest.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::arguments::Arguments;
use crate::contest::middle;
use crate::report::{Goal, Table, verdict};

const PATIENCE: Duration = Duration::from_secs(30);
/// Long enough for what runs once after the start to be over.
const REST: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let binary = std::env::current_exe()?.with_file_name("munshi");
    if !binary.is_file() {
        println!("\nStart: build the binary first: cargo build --release -p munshi");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let first = Server::start(&binary, folder.path())?.ready_after;
    let (mut times, mut sizes) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds.max(1) {
        let server = Server::start(&binary, folder.path())?;
        times.push(server.ready_after.as_secs_f64() * 1000.0);
        std::thread::sleep(REST);
        sizes.push(server.resident_megabytes()?);
    }
    let (time, size) = (middle(times), middle(sizes));
    let mut table = Table::new(["", "figure", "goal"]);
    table.row(["first start, ms".to_owned(), format!("{}", first.as_millis()), String::new()]);
    table.row(["start to ready, ms".to_owned(), format!("{time:.0}"), verdict(time, Goal::AtMost(100.0), 0)]);
    table.row([
        "resident at rest, MB".to_owned(),
        format!("{size:.1}"),
        verdict(size, Goal::AtMost(25.0), 0),
    ]);
    table.print("`munshi serve` on an existing database");
    Ok(())
}

/// A running server; it is asked to stop, and waited for, when dropped.
struct Server {
    child: Child,
    ready_after: Duration,
}

impl Server {
    fn start(binary: &PathBuf, folder: &Path) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new(binary);
        command.arg("serve").env("MUNSHI__DATA__DIR", folder);
        command.env("MUNSHI__SERVER__LISTEN", address.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let began = Instant::now();
        let child = command.spawn()?;
        let mut server = Self { child, ready_after: Duration::ZERO };
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

    fn resident_megabytes(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS line")?;
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes / 1024.0)
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
