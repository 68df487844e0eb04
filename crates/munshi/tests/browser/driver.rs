//! A browser, spoken to as its driver wants it: plain HTTP and JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use munshi_test_support::{PATIENCE, environment};
use serde_json::{Value, json};

const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// One window of a browser of its own; it closes with the test.
pub(crate) struct Browser {
    session: String,
}

fn ask(method: &str, path: &str, body: Option<&Value>) -> Result<Value, Value> {
    let mut stream = TcpStream::connect(environment::browser()).unwrap();
    stream.set_read_timeout(Some(PATIENCE * 2)).unwrap();
    let text = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // It keeps the line open whatever it is asked, so its answer ends where it says.
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let value: Value = serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{error}: {head}"));
    if head.starts_with("HTTP/1.1 200") { Ok(value["value"].clone()) } else { Err(value["value"].clone()) }
}

impl Browser {
    pub(crate) fn open(url: &str) -> Self {
        let arguments = json!([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1000,800",
            "--lang=en-IN",
            // A tab in the background is not last in line where many want the machine.
            "--disable-renderer-backgrounding",
            "--disable-backgrounding-occluded-windows",
            // Names of businesses that lead to this machine.
            "--host-resolver-rules=MAP *.example 127.0.0.1",
        ]);
        let options = json!({ "args": arguments, "prefs": { "intl.accept_languages": "en-IN" } });
        let patience = u64::try_from(PATIENCE.as_millis()).unwrap();
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": patience },
        } } });
        let begin = || ask("POST", "/session", Some(&wanted));
        // Its own time to start, a minute, may not be enough on a busy machine.
        let made = begin().or_else(|_| begin()).unwrap();
        let browser = Self { session: made["sessionId"].as_str().unwrap().to_owned() };
        browser.go(url);
        browser
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let path = format!("/session/{}{path}", self.session);
        ask(method, &path, body).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn go(&self, url: &str) {
        self.call("POST", "/url", Some(&json!({ "url": url })));
    }

    pub(crate) fn reload(&self) {
        self.call("POST", "/refresh", Some(&json!({})));
    }

    pub(crate) fn run(&self, script: &str, arguments: &Value) -> Value {
        self.call("POST", "/execute/sync", Some(&json!({ "script": script, "args": arguments })))
    }

    pub(crate) fn value(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression});"), &json!([]))
    }

    pub(crate) fn text(&self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn until(&self, expression: &str) {
        let began = Instant::now();
        while self.value(&format!("!!({expression})")) != json!(true) {
            assert!(
                began.elapsed() < PATIENCE,
                "never: {expression}\n{}\n{}",
                self.text("document.body.innerText"),
                self.complaints()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn click(&self, selector: &str) {
        let found =
            self.call("POST", "/element", Some(&json!({ "using": "css selector", "value": selector })));
        let id = found[ELEMENT].as_str().unwrap();
        self.call("POST", &format!("/element/{id}/click"), Some(&json!({})));
    }

    /// Picks files in the dialog that a button opens. The dialog is the system's and opens in no test; the button is pressed, and what it
    /// opens the dialog for gets files from the disk.
    pub(crate) fn pick(&self, button: &str, files: &[PathBuf]) {
        self.run("HTMLInputElement.prototype.click = function () { window.picker = this; };", &json!([]));
        self.click(button);
        let picker = self.tool("Runtime.evaluate", &json!({ "expression": "window.picker" }));
        let object = picker["result"]["objectId"].as_str().unwrap_or_else(|| panic!("{button}: {picker}"));
        self.tool("DOM.setFileInputFiles", &json!({ "files": files, "objectId": object }));
    }

    /// Keys as somebody presses them, wherever the focus is. `\u{E007}` is Enter, `\u{E004}` Tab, `\u{E00C}` Escape.
    pub(crate) fn press(&self, keys: &str) {
        let each = keys.chars().flat_map(|key| {
            let key = key.to_string();
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        });
        let actions =
            json!({ "actions": [{ "type": "key", "id": "keys", "actions": each.collect::<Vec<_>>() }] });
        self.call("POST", "/actions", Some(&actions));
    }

    /// One key with the shift key held.
    pub(crate) fn press_shifted(&self, key: char) {
        let shift = "\u{E008}";
        let actions = json!([
            { "type": "keyDown", "value": shift }, { "type": "keyDown", "value": key.to_string() },
            { "type": "keyUp", "value": key.to_string() }, { "type": "keyUp", "value": shift },
        ]);
        self.call(
            "POST",
            "/actions",
            Some(&json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] })),
        );
    }

    /// A command of the browser's own tools.
    pub(crate) fn tool(&self, name: &str, parameters: &Value) -> Value {
        self.call("POST", "/goog/cdp/execute", Some(&json!({ "cmd": name, "params": parameters })))
    }

    pub(crate) fn new_tab(&self, url: &str) -> (String, String) {
        let first = self.call("GET", "/window", None).as_str().unwrap().to_owned();
        let made = self.call("POST", "/window/new", Some(&json!({ "type": "tab" })));
        let second = made["handle"].as_str().unwrap().to_owned();
        self.show(&second);
        self.go(url);
        (first, second)
    }

    /// Closes a tab; another has to be shown next.
    pub(crate) fn close(&self, tab: &str) {
        self.show(tab);
        self.call("DELETE", "/window", None);
    }

    /// Runs a script on every page of the tab that is shown, before any of the page's own.
    pub(crate) fn before_each_page(&self, script: &str) {
        self.tool("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script }));
    }

    pub(crate) fn show(&self, tab: &str) {
        self.call("POST", "/window", Some(&json!({ "handle": tab })));
    }

    /// What the page complained about: a broken policy, an error nobody caught.
    pub(crate) fn complaints(&self) -> String {
        let lines = self.call("POST", "/se/log", Some(&json!({ "type": "browser" })));
        let lines = lines
            .as_array()
            .into_iter()
            .flatten()
            .map(|line| line["message"].as_str().unwrap_or_default().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Everything that a screen reader would find on the page, closed roots too.
    pub(crate) fn spoken(&self) -> String {
        let tree = self.tool("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().into_iter().flatten();
        let names =
            nodes.filter(|node| node["ignored"] != true).filter_map(|node| node["name"]["value"].as_str());
        names.collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    pub(crate) fn until_spoken(&self, text: &str) {
        let began = Instant::now();
        while !self.spoken().contains(text) {
            assert!(
                began.elapsed() < PATIENCE,
                "never said: {text}\n{}\n{}",
                self.spoken(),
                self.complaints()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _gone = ask("DELETE", &format!("/session/{}", self.session), None);
    }
}
