//! Reads messages from standard input, one a line, and prints what the crate makes of each.
//!
//! `cargo run -p munshi-lang --example understand`; a line may begin with a language: `hi: dhai sau`.

#![allow(clippy::print_stdout, reason = "what this is for")]

use std::io::BufRead;

use munshi_lang::{UnderstandingContext, understand};

fn main() -> anyhow::Result<()> {
    let today = std::env::args().nth(1).and_then(|day| day.parse().ok());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (language, text) = match line.split_once(": ").map(|(code, rest)| (code.parse(), rest)) {
            Some((Ok(language), rest)) => (Some(language), rest),
            _ => (None, line.as_str()),
        };
        let found =
            understand(text, &UnderstandingContext { language, today, ..UnderstandingContext::default() });
        println!("{}", serde_json::to_string(&found)?);
    }
    Ok(())
}
