//! A server that runs until the test is over.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use munshi_test_support::PATIENCE;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub(crate) struct Running {
    child: Child,
    pub(crate) address: SocketAddr,
    /// What it said when it was ready.
    pub(crate) ready: Value,
    log: PathBuf,
}

impl Running {
    /// Waits for the line that says where it listens.
    pub(crate) fn start(mut command: Command, folder: &Path) -> Self {
        let log = folder.join("serve.log");
        let errors = std::fs::File::options().create(true).append(true).open(&log).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            let _ended = child.wait();
            panic!("{error}: {line:?}, {}", std::fs::read_to_string(&log).unwrap())
        });
        let address = ready["address"].as_str().unwrap().parse().unwrap();
        Self { child, address, ready, log }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The status and body of a GET.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    /// Asks until the status is this one; gives back the body.
    pub(crate) fn wait_for(&self, path: &str, wanted: u16) -> String {
        let began = Instant::now();
        loop {
            let (status, body) = self.get(path);
            if status == wanted {
                return body;
            }
            assert!(began.elapsed() < PATIENCE, "{path} answers {status}: {body}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks until the body is as wanted; gives it back.
    pub(crate) fn wait_until(&self, path: &str, wanted: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let (status, body) = self.get(path);
            if status == 200 && wanted(&body) {
                return body;
            }
            assert!(began.elapsed() < PATIENCE, "{path} answers {status}: {body}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "the server does not end\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}
