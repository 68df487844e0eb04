//! What `scripts/test.sh` starts or installs for the tests. A test that needs one of them fails without it.

use std::path::PathBuf;

#[allow(clippy::disallowed_methods, reason = "the script that runs the tests says here what it has started")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests with scripts/test.sh"))
}

/// Whether `make soak` runs: all of what a shorter run tries a part of.
#[allow(
    clippy::disallowed_methods,
    reason = "the script that runs the tests says here how long they may take"
)]
pub fn is_long_run() -> bool {
    std::env::var_os("MUNSHI_TEST_LONG").is_some()
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

/// Where a certified OpenID provider is: `scripts/oidc/provider.mjs`.
pub fn openid_provider() -> String {
    variable("MUNSHI_TEST_OIDC")
}

/// The folder it is installed in, for tests that need one of their own.
pub fn openid_provider_home() -> PathBuf {
    variable("MUNSHI_TEST_OIDC_HOME").into()
}

/// An S3 server that checks signatures, and who may use a bucket of it.
pub struct S3Server {
    pub endpoint: String,
    pub bucket: String,
    pub access_key: String,
    pub secret_key: String,
}

pub fn s3() -> S3Server {
    let text = variable("MUNSHI_TEST_S3");
    let mut words = text.split_whitespace().map(str::to_owned);
    let mut word = || words.next().unwrap_or_else(|| panic!("MUNSHI_TEST_S3 is not whole: {text}"));
    S3Server { endpoint: word(), bucket: word(), access_key: word(), secret_key: word() }
}

/// A mail server that keeps what it takes, and misbehaves as the recipient's name says: `scripts/mail/server.py`.
pub struct MailServer {
    /// In the open, without a login.
    pub plain_port: u16,
    pub starttls_port: u16,
    pub tls_port: u16,
    /// A folder for each recipient, with a file for each mail.
    pub mailboxes: PathBuf,
    /// The authority that signed its certificate for `localhost`.
    pub certificate: PathBuf,
    pub login: String,
    pub password: String,
}

pub fn mail() -> MailServer {
    let text = variable("MUNSHI_TEST_MAIL");
    let mut words = text.split_whitespace().map(str::to_owned);
    let mut word = || words.next().unwrap_or_else(|| panic!("MUNSHI_TEST_MAIL is not whole: {text}"));
    let mut port = || word().parse().unwrap_or_else(|_| panic!("MUNSHI_TEST_MAIL is not whole: {text}"));
    let (plain_port, starttls_port, tls_port) = (port(), port(), port());
    let (mailboxes, certificate) = (word().into(), word().into());
    MailServer {
        plain_port,
        starttls_port,
        tls_port,
        mailboxes,
        certificate,
        login: word(),
        password: word(),
    }
}

impl MailServer {
    /// What a recipient has been sent, oldest first.
    pub fn read_mailbox(&self, address: &str) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(self.mailboxes.join(address.to_lowercase())) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "eml"));
        files.sort();
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
    }
}

/// An IMAP server that has a mailbox for whoever logs in by the password: `scripts/imap.sh`.
pub struct ImapServer {
    /// In the open, or by STARTTLS.
    pub plain_port: u16,
    pub tls_port: u16,
    /// The authority that signed its certificate for `localhost`.
    pub certificate: PathBuf,
    pub password: String,
}

pub fn imap() -> ImapServer {
    let text = variable("MUNSHI_TEST_IMAP");
    let whole = || -> ! { panic!("MUNSHI_TEST_IMAP is not whole: {text}") };
    let words: Vec<&str> = text.split_whitespace().collect();
    let [plain, tls, certificate, password] = words[..] else { whole() };
    ImapServer {
        plain_port: plain.parse().unwrap_or_else(|_| whole()),
        tls_port: tls.parse().unwrap_or_else(|_| whole()),
        certificate: certificate.into(),
        password: password.to_owned(),
    }
}

/// The folder of other people's programs that speak OpenAI's API: `python` and `node`.
pub fn openai_clients() -> PathBuf {
    variable("MUNSHI_TEST_OPENAI_CLIENTS").into()
}

/// Where programs are looked for.
pub fn path() -> String {
    variable("PATH")
}

/// Where the driver of a real browser listens.
pub fn browser() -> String {
    variable("MUNSHI_TEST_BROWSER")
}

/// The file of axe-core, which looks for what people with a disability would stumble over.
pub fn axe() -> String {
    variable("MUNSHI_TEST_AXE")
}

/// Platforms' own SDKs, and the program that asks them: `scripts/sdks/check.py`.
pub struct PlatformSdks {
    pub packages: PathBuf,
    pub program: PathBuf,
}

pub fn platform_sdks() -> PlatformSdks {
    let text = variable("MUNSHI_TEST_SDKS");
    let (packages, program) =
        text.split_once(' ').unwrap_or_else(|| panic!("MUNSHI_TEST_SDKS is not whole: {text}"));
    PlatformSdks { packages: packages.into(), program: program.into() }
}
