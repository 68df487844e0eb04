//! What the platforms' own SDKs say of what we send and accept. Stand-ins ask them of each request that they take.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use munshi_test_support::environment;
use serde_json::{Value, json};

/// One program for each process of tests: it reads an SDK only when it is asked of it.
static RUNNING: Mutex<Option<SdkProgram>> = Mutex::new(None);

struct SdkProgram {
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// It ends with its standard input.
    _child: Child,
}

/// A request of ours, as its stand-in has it.
pub(crate) struct SentRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) media_type: &'a str,
    pub(crate) body: &'a [u8],
}

/// What we verify before it is stored.
pub(crate) struct SignedCall<'a> {
    pub(crate) secret: &'a str,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [(String, Vec<u8>)],
    pub(crate) body: &'a [u8],
}

impl SdkProgram {
    fn start() -> Self {
        let sdks = environment::platform_sdks();
        let mut child = Command::new("python3")
            .env("PYTHONPATH", sdks.packages)
            .args(["-B".as_ref(), sdks.program.as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (questions, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { questions, answers: BufReader::new(answers), _child: child }
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.questions, "{question}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the SDKs' program ended at {question}"))
    }
}

fn ask(question: &Value) -> Result<(), String> {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = running.get_or_insert_with(SdkProgram::start).ask(question);
    match answer["ok"] == true {
        true => Ok(()),
        false => Err(answer["why"].as_str().unwrap_or("no reason").to_owned()),
    }
}

/// Whether the platform's SDK sends the very same where it is asked for the same; else what differs.
pub(crate) fn check_request(platform: &str, sent: &SentRequest<'_>) -> Result<(), String> {
    ask(&json!({
        "ask": "request", "platform": platform, "method": sent.method, "path": sent.path, "type": sent.media_type,
        "body": STANDARD.encode(sent.body),
    }))
}

/// Whether the platform's SDK reads it, with no field that it does not know.
pub(crate) fn check_update(platform: &str, update: &Value) -> Result<(), String> {
    ask(&json!({ "ask": "update", "platform": platform, "body": update }))
}

/// Whether the platform's SDK believes the signature.
pub(crate) fn is_believed(platform: &str, call: &SignedCall<'_>) -> bool {
    let headers: serde_json::Map<String, Value> = call
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), Value::from(String::from_utf8_lossy(value).into_owned())))
        .collect();
    let asked = ask(&json!({
        "ask": "signature", "platform": platform, "secret": call.secret, "url": call.url, "headers": headers,
        "body": STANDARD.encode(call.body),
    }));
    asked.is_ok()
}
