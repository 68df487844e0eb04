//! A shop with a model that speaks slowly, and a page to talk on.

use std::time::Duration;

use rustix::process::Signal;

use crate::browser::driver::Browser;
use crate::browser::support::{Installation, Running, Speaking};

pub(crate) const ENTER: char = '\u{E007}';
pub(crate) const TAB: char = '\u{E004}';
pub(crate) const ESCAPE: char = '\u{E00C}';

pub(crate) struct Shop {
    pub(crate) installation: Installation,
    pub(crate) model: Speaking,
    pub(crate) server: Running,
}

impl Shop {
    /// One whose persona has this name, and whose model says this, a word every so often.
    pub(crate) fn open(name: &str, reply: &str, pause: Duration) -> Self {
        Self::open_with_join_window(name, reply, pause, Duration::ZERO)
    }

    /// The same where messages that come so close get one reply.
    pub(crate) fn open_with_join_window(
        name: &str,
        reply: &str,
        pause: Duration,
        join_window: Duration,
    ) -> Self {
        let model = Speaking::start(reply, pause);
        let installation = Installation::sqlite()
            .with("MUNSHI__MODELS__LOCAL__PROVIDER", "llamacpp")
            .with("MUNSHI__MODELS__LOCAL__MODEL", "small")
            .with("MUNSHI__MODELS__LOCAL__BASE_URL", format!("http://{}/v1", model.address))
            .with("MUNSHI__ROUTES__DEFAULT", "local")
            .with("MUNSHI__RUNS__JOIN_WINDOW_MILLISECONDS", join_window.as_millis().to_string());
        installation.run(&["migrate"]).ok();
        let human = format!(
            "+++\nname = '{name}'\nidentity = '{name} keeps the books.'\n[speech]\nlanguages = [\"en\", \"hi\"]\nlock = \"open\"\n+++\n\nKind.\n"
        );
        for (path, text) in [
            ("shop/humans/meera.md", human.as_str()),
            (
                "shop/teams/counter.md",
                "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n+++\n\nServe.\n",
            ),
            ("shop/agents/plain.toml", "name = \"Plain\"\n"),
            (
                "shop/bindings/counter.toml",
                "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\nkeys = [\"handle:shop\", \"host:site.example\"]\n",
            ),
        ] {
            let path = installation.folder().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        installation.run(&["apply", "shop"]).ok();
        let server = installation.serve();
        Self { installation, model, server }
    }

    /// Ends the server by a signal and starts another at the same address.
    pub(crate) fn restart(&mut self, signal: Signal) {
        self.server.signal(signal);
        self.server.wait();
        let mut command = self.installation.command(&["serve", "--json"]);
        command.env("MUNSHI__SERVER__LISTEN", self.server.address.to_string());
        self.server = Running::start(command, &self.installation.folder());
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address)
    }

    /// The chat, ready to be written in.
    pub(crate) fn chat(&self) -> Browser {
        let browser = Browser::open(&self.url("/c/shop"));
        browser.until("document.querySelector('.chat.ready')");
        browser
    }
}

/// Writes a message by key and sends it.
pub(crate) fn say(browser: &Browser, text: &str) {
    browser.run("document.querySelector('textarea').focus()", &serde_json::json!([]));
    browser.press(&format!("{text}{ENTER}"));
}

/// The text of the newest reply.
pub(crate) const REPLY: &str = "[...document.querySelectorAll('.theirs .text')].pop()?.textContent || ''";
/// How many bubbles there are, of both.
pub(crate) const BUBBLES: &str = "document.querySelectorAll('.said').length";
pub(crate) const STILL: &str =
    "!document.querySelector('.live, .waiting') && document.querySelector('.doing').hidden";
