//! A model server that says one sentence word by word, slowly, however often it is asked; or what follows from what it is
//! asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

/// Serves as long as the test program runs.
pub(crate) struct Speaking {
    pub(crate) address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

/// What it says to one request.
pub(crate) struct Answer {
    words: String,
    call: Option<(String, Value)>,
}

impl Answer {
    pub(crate) fn words(words: &str) -> Self {
        Self { words: words.to_owned(), call: None }
    }

    /// A call of one tool.
    pub(crate) fn call(tool: &str, arguments: Value) -> Self {
        Self { words: String::new(), call: Some((tool.to_owned(), arguments)) }
    }
}

type Answering = Arc<dyn Fn(&Value) -> Answer + Send + Sync>;

impl Speaking {
    pub(crate) fn start(reply: &str, pause: Duration) -> Self {
        let reply = reply.to_owned();
        Self::answering(pause, move |_| Answer::words(&reply))
    }

    pub(crate) fn answering(
        pause: Duration,
        answers: impl Fn(&Value) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let answers: Answering = Arc::new(answers);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<AtomicUsize>::default();
        let counted = asked.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (answers, asked) = (answers.clone(), counted.clone());
                // Whoever hangs up in the middle is a server that was killed.
                std::thread::spawn(move || drop(serve(&socket, &answers, pause, &asked)));
            }
        });
        Self { address, asked }
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn serve(
    mut socket: &TcpStream,
    answers: &Answering,
    pause: Duration,
    asked: &AtomicUsize,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(socket.try_clone()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let answer = answers(&serde_json::from_slice(&body).unwrap_or_default());
        asked.fetch_add(1, Ordering::SeqCst);
        socket.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )?;
        for word in answer.words.split_inclusive(' ') {
            std::thread::sleep(pause);
            let delta = serde_json::json!({ "content": word });
            send(socket, &serde_json::json!({ "choices": [{ "index": 0, "delta": delta }] }).to_string())?;
        }
        let reason = if answer.call.is_some() { "tool_calls" } else { "stop" };
        if let Some((name, arguments)) = answer.call {
            let function = serde_json::json!({ "name": name, "arguments": arguments.to_string() });
            let calls =
                serde_json::json!([{ "index": 0, "id": "c1", "type": "function", "function": function }]);
            let delta = serde_json::json!({ "tool_calls": calls });
            send(socket, &serde_json::json!({ "choices": [{ "index": 0, "delta": delta }] }).to_string())?;
        }
        let usage = serde_json::json!({ "prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70 });
        let end = serde_json::json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }], "usage": usage });
        send(socket, &end.to_string())?;
        send(socket, "[DONE]")?;
        socket.write_all(b"0\r\n\r\n")?;
    }
}

fn send(mut socket: &TcpStream, data: &str) -> std::io::Result<()> {
    let event = format!("data: {data}\n\n");
    socket.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}
