//! A connector's tools by names that every model's provider accepts.

use munshi_types::{ConnectorName, ToolName};
use sha2::{Digest, Sha256};

const LONGEST: usize = 64;

/// `files` and `readTextFile` make `files_read_text_file`. A name that would be cut, or that another tool has, ends in
/// letters of its own, so that the same tool always has the same name.
pub(crate) fn tool_name(
    connector: &ConnectorName,
    remote: &str,
    is_taken: impl Fn(&ToolName) -> bool,
) -> Option<ToolName> {
    let plain = format!("{connector}_{}", to_snake_case(remote));
    let named =
        Some(&plain).filter(|name| name.len() <= LONGEST).and_then(|name| name.parse::<ToolName>().ok());
    if let Some(name) = named.filter(|name| !is_taken(name)) {
        return Some(name);
    }
    let mark: String =
        Sha256::digest(remote.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let front: String = plain.chars().take(LONGEST - mark.len() - 1).collect();
    let name: ToolName = format!("{}_{mark}", front.trim_end_matches('_')).parse().ok()?;
    (!is_taken(&name)).then_some(name)
}

/// Small letters, digits and single underscores.
fn to_snake_case(text: &str) -> String {
    let mut out = String::new();
    let mut was_small = false;
    for letter in text.chars() {
        if letter.is_ascii_uppercase() && was_small {
            out.push('_');
        }
        match letter {
            'a'..='z' | '0'..='9' => out.push(letter),
            'A'..='Z' => out.push(letter.to_ascii_lowercase()),
            _ if !out.ends_with('_') && !out.is_empty() => out.push('_'),
            _ => {}
        }
        was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    out.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(remote: &str) -> String {
        tool_name(&"files".parse().unwrap(), remote, |_| false).unwrap().to_string()
    }

    #[test]
    fn names_read_like_the_servers_own() {
        for (remote, name) in [
            ("read_file", "files_read_file"),
            ("readTextFile", "files_read_text_file"),
            ("get-sum", "files_get_sum"),
            ("a..b//c", "files_a_b_c"),
            ("HTTPGet", "files_httpget"),
        ] {
            assert_eq!(named(remote), name);
        }
        assert!(named("फ़ाइल").starts_with("files_"), "a name of other letters has one too");
        let taken = "files_get_sum".parse().unwrap();
        let other = tool_name(&"files".parse().unwrap(), "get.sum", |name| *name == taken).unwrap();
        assert!(other.as_str().starts_with("files_get_sum_") && other != taken);
    }

    proptest! {
        #[test]
        fn every_name_can_be_used_and_stays_the_same(remote in ".{0,200}") {
            let name = named(&remote);
            prop_assert!(name.parse::<ToolName>().is_ok());
            prop_assert_eq!(named(&remote), name);
        }
    }
}
