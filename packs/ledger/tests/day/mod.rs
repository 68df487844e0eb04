//! A shop's day in words: every script in `scripts/` is said to the ready tenant's agent, with the model of this machine
//! alone and on both databases, and must be answered as it stands there. Then the books must be sound.
//!
//! A line that begins with `> ` is what the owner says, and `+ 20m` that time goes by. All other lines are replies.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "unwrapping is how a test fails")]

mod after;
pub(crate) mod support;
mod walk;

use munshi_test_support::TestDb;

use crate::day::support::Shop;

/// Says what the script says and gives it back with the replies as they were.
async fn played(test: &TestDb, script: &str) -> String {
    let shop = Shop::open(test).await;
    let mut lines: Vec<String> = Vec::new();
    for line in script.lines() {
        if let Some(minutes) = line.strip_prefix("+ ") {
            let minutes: u64 = minutes.trim_end_matches('m').parse().unwrap();
            test.clock.advance(std::time::Duration::from_secs(minutes * 60));
            lines.push(line.to_owned());
        } else if let Some(said) = line.strip_prefix("> ") {
            test.clock.advance(std::time::Duration::from_secs(60));
            let reply = shop.say(said).await;
            lines.push(line.to_owned());
            lines.push(reply);
        } else if line.starts_with("# ") {
            lines.push(line.to_owned());
        }
    }
    shop.assert_sound().await;
    lines.join("\n") + "\n"
}

macro_rules! days {
    ($($name:ident = $file:literal;)+) => {
        munshi_test_support::on_both_engines! {
            with all crate::day::support::migrations();

            $(async fn $name(test: TestDb) {
                let script = include_str!(concat!("scripts/", $file, ".txt"));
                let played = played(&test, script).await;
                assert!(played == script, "the day went otherwise:\n{played}");
            })+
        }
    };
}

days! {
    a_day_in_english = "en";
    a_day_in_hindi = "hi";
    a_day_in_hindi_in_latin_letters = "hi-latn";
    a_day_in_bengali = "bn";
    a_day_in_bengali_in_latin_letters = "bn-latn";
    a_day_in_gujarati = "gu";
    a_day_in_kannada = "kn";
    a_day_in_malayalam = "ml";
    a_day_in_marathi = "mr";
    a_day_in_odia = "or";
    a_day_in_punjabi = "pa";
    a_day_in_tamil = "ta";
    a_day_in_tamil_in_latin_letters = "ta-latn";
    a_day_in_telugu = "te";
}
