//! What a service says when it lets nobody in: where to go, and what for.

use serde::{Deserialize, Serialize};

/// Longer is no header of a service that means well.
const LONGEST: usize = 8 * 1024;

/// The parts of `WWW-Authenticate` that lead to a login.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AuthChallenge {
    /// Where the service says who lets people in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_metadata: Option<String>,
    /// What is wanted, as the service names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl AuthChallenge {
    /// Reads the Bearer challenge of a header; nothing where there is none.
    pub(crate) fn parse(header: &str) -> Self {
        let header = header.get(..LONGEST).unwrap_or(header);
        let mut read = Self::default();
        let mut scheme = String::new();
        let mut rest = header.trim_start();
        while !rest.is_empty() {
            let word: String = rest.chars().take_while(|letter| is_token(*letter)).collect();
            rest = rest.get(word.len()..).unwrap_or_default().trim_start();
            if word.is_empty() {
                // A comma, or what no header has.
                let mut letters = rest.chars();
                letters.next();
                rest = letters.as_str().trim_start();
                continue;
            }
            match rest.strip_prefix('=') {
                Some(after) => {
                    let (value, after) = parse_value(after.trim_start());
                    if scheme.eq_ignore_ascii_case("bearer") {
                        read.set_parameter(&word, value);
                    }
                    rest = after.trim_start();
                }
                None => scheme = word,
            }
        }
        read
    }

    fn set_parameter(&mut self, name: &str, value: String) {
        let slot = match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => &mut self.resource_metadata,
            "scope" => &mut self.scope,
            "error" => &mut self.error,
            _ => return,
        };
        slot.get_or_insert(value);
    }

    /// Whether we are in, and want more than we may.
    pub(crate) fn needs_more_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

fn is_token(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(letter)
}

/// A value, quoted or not, and what follows it.
fn parse_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text.get(..end).unwrap_or_default().to_owned(), text.get(end..).unwrap_or_default());
    };
    let (mut value, mut letters) = (String::new(), quoted.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => value.extend(letters.next()),
            other => value.push(other),
        }
    }
    (value, letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bearer_challenge_is_read_whatever_stands_beside_it() {
        let read = AuthChallenge::parse(
            "Basic realm=\"x\", scope=\"not this\", Bearer realm=a, error=\"insufficient_scope\", scope=\"files:read files:write\", \
             resource_metadata=\"https://a.example/.well-known/oauth-protected-resource?x=\\\"1\\\"\"",
        );
        assert_eq!(read.scope.as_deref(), Some("files:read files:write"));
        assert_eq!(
            read.resource_metadata.as_deref(),
            Some("https://a.example/.well-known/oauth-protected-resource?x=\"1\"")
        );
        assert!(read.needs_more_scope());
        assert_eq!(AuthChallenge::parse("Bearer"), AuthChallenge::default());
        assert_eq!(AuthChallenge::parse("bearer scope=one").scope.as_deref(), Some("one"));
    }

    proptest::proptest! {
        #[test]
        fn no_header_breaks_it(header in "\\PC*") {
            AuthChallenge::parse(&header);
        }
    }
}
