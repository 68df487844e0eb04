//! A service that lets nobody in without a login: a certified authorization server, the official SDK's own server
//! behind it, and a browser that goes where it is sent. Everything blocks, and ends with the test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::environment;
use crate::port::choose_port;
use crate::wait::PATIENCE;

/// Whether the authorization server lets people in by a code, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceCodeSupport {
    Given,
    None,
}

pub struct GuardedService {
    pub issuer: String,
    /// Where the service is called.
    pub url: String,
    notes: PathBuf,
    authority: Child,
    service: Child,
}

fn build_server_path(name: &str) -> String {
    format!("{}/../connectors/tests/servers/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn build_command(name: &str) -> Command {
    let mut command = Command::new(name);
    command.env_clear().env("PATH", environment::path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

impl GuardedService {
    /// What the service is told to write down goes into the folder.
    pub fn start(folder: &Path, codes: DeviceCodeSupport) -> Self {
        let mut authority = build_command("node")
            .arg(build_server_path("authority.mjs"))
            .arg(environment::openid_provider_home())
            .args((codes == DeviceCodeSupport::None).then_some("--no-codes"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut issuer = String::new();
        BufReader::new(authority.stdout.take().unwrap()).read_line(&mut issuer).unwrap();
        let (issuer, notes) = (issuer.trim().to_owned(), folder.join("notes"));
        assert!(issuer.starts_with("http://"), "the authorization server does not start");
        let port = choose_port();
        let service = build_command("python3")
            .arg(build_server_path("guarded.py"))
            .args([&port.to_string(), &issuer])
            .arg(&notes)
            .env("PYTHONPATH", environment::connectors().join("python"))
            .spawn()
            .unwrap();
        let guarded = Self { issuer, url: format!("http://127.0.0.1:{port}/mcp"), notes, authority, service };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < PATIENCE, "the service does not listen");
            std::thread::sleep(Duration::from_millis(100));
        }
        guarded
    }

    /// What was called.
    pub fn recorded_calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.notes).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How often the authorization server gave a token for this kind of grant.
    pub fn count_grants(&self, kind: &str) -> u64 {
        let page = Browser::default().get(&format!("{}/count", self.issuer));
        let count: Value = serde_json::from_str(&page.text).unwrap();
        count[kind].as_u64().unwrap_or_default()
    }

    /// Every token and grant is gone, as when somebody revokes them.
    pub fn revoke_all(&self) {
        Browser::default().send("POST", &format!("{}/forget", self.issuer), "");
    }

    /// The next token is made and not given out, as when somebody is slow at the very wrong moment.
    pub fn hold_next_token(&self) {
        Browser::default().send("POST", &format!("{}/hold", self.issuer), "");
    }

    /// Whether a token is kept back.
    pub fn has_held_token(&self) -> bool {
        Browser::default().get(&format!("{}/held", self.issuer)).text != "0"
    }

    /// What was kept back is given out.
    pub fn release_token(&self) {
        Browser::default().send("POST", &format!("{}/release", self.issuer), "");
    }

    /// The line breaks for whoever asks for a token from now on.
    pub fn break_connections(&self) {
        Browser::default().send("POST", &format!("{}/break", self.issuer), "");
    }

    /// Whoever comes from now on says no.
    pub fn deny_all(&self) {
        Browser::default().send("POST", &format!("{}/deny", self.issuer), "");
    }
}

impl Drop for GuardedService {
    fn drop(&mut self) {
        for child in [&mut self.authority, &mut self.service] {
            let _gone = child.kill();
            let _status = child.wait();
        }
    }
}

/// What a browser was shown.
#[derive(Clone, Debug)]
pub struct BrowserPage {
    pub status: u16,
    /// Where it is sent next.
    pub next: Option<String>,
    /// Header names in small letters.
    pub headers: Vec<(String, String)>,
    pub text: String,
}

/// A browser: goes where it is sent, with what it was given to keep. It speaks plain HTTP, on this machine.
#[derive(Clone, Debug, Default)]
pub struct Browser {
    pub cookies: BTreeMap<String, String>,
}

impl Browser {
    pub fn get(&mut self, url: &str) -> BrowserPage {
        self.send("GET", url, "")
    }

    pub fn send(&mut self, method: &str, url: &str, form: &str) -> BrowserPage {
        let bare = url.strip_prefix("http://").unwrap();
        let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
        let mut stream = TcpStream::connect(host).unwrap_or_else(|error| panic!("{url}: {error}"));
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let kept: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // Of an older version no answer comes in pieces.
        let request = format!(
            "{method} /{path} HTTP/1.0\r\nhost: {host}\r\norigin: http://{host}\r\ncookie: {}\r\ncontent-length: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\n\r\n{form}",
            kept.join("; "),
            form.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{url}: {answer}"));
        let seen = parse_page(&format!("http://{host}"), head, text);
        for (_, cookie) in seen.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            match value {
                "" => self.cookies.remove(name),
                value => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        seen
    }

    /// Follows until a page says something, or it is sent to an address that begins so: gives where it is, and what it
    /// saw last.
    pub fn follow(&mut self, from: &str, until: &str) -> (String, BrowserPage) {
        let mut at = from.to_owned();
        for _ in 0..12 {
            let seen = self.get(&at);
            match &seen.next {
                Some(next) if next.starts_with(until) => return (next.clone(), seen),
                Some(next) => at.clone_from(next),
                None => return (at, seen),
            }
        }
        panic!("it never comes to an end: {at}");
    }

    /// Says yes on the page of a link of ours; gives where that leads.
    pub fn consent(&mut self, link: &str) -> String {
        let page = self.get(link);
        let form = extract_between(&page.text, "name=\"form\" value=\"", "\"");
        let page = self.send("POST", link, &format!("form={form}"));
        extract_between(&page.text, "content=\"0; url=", "\"").replace("&#38;", "&").replace("&amp;", "&")
    }

    /// Types a code, says that it is theirs, and consents; gives what the last page says.
    pub fn enter_code(&mut self, place: &str, code: &str) -> String {
        let (at, page) = self.follow(place, "never");
        let origin: String = at.split('/').take(3).collect::<Vec<_>>().join("/");
        let xsrf = page.text.split("name=\"xsrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let form = format!("xsrf={xsrf}&user_code={code}");
        self.send("POST", &format!("{origin}/device"), &form);
        let confirmed = self.send("POST", &format!("{origin}/device"), &format!("{form}&confirm=yes"));
        self.follow(&confirmed.next.unwrap(), "never").1.text
    }
}

fn extract_between(text: &str, before: &str, after: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("`{before}` is not in {text}"));
    rest.split_once(after).unwrap().0.to_owned()
}

fn parse_page(origin: &str, head: &str, text: &str) -> BrowserPage {
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let next = headers.iter().find(|(name, _)| name == "location").map(|(_, next)| next);
    let next = next.map(|next| if next.starts_with('/') { format!("{origin}{next}") } else { next.clone() });
    BrowserPage { status, next, headers, text: text.to_owned() }
}
