//! How far an agent may go: what it does by itself, and which scopes are open to it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much is done without a person. Where two say something about it, the lower counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// Nothing at all, not even looking.
    Off,
    /// Looks, never writes.
    #[default]
    Investigate,
    /// Writes what a person has approved.
    Propose,
    /// Writes by itself what neither the tool nor the policy wants asked.
    Act,
}

impl Autonomy {
    pub const ALL: [Self; 4] = [Self::Off, Self::Investigate, Self::Propose, Self::Act];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Investigate => "investigate",
            Self::Propose => "propose",
            Self::Act => "act",
        }
    }
}

impl fmt::Display for Autonomy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How far out a tool may be reached from, by what it tells and does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The owner's own affairs.
    #[default]
    Owner,
    /// The business: for those who work in it.
    Business,
    /// For a person we know, about that person alone.
    Person,
    /// For anybody: opening hours, the catalogue.
    Anyone,
}

/// How one agent or one connector may be used. Nothing is open that is not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conduct {
    pub autonomy: Autonomy,
    /// What may be looked at.
    pub read: Vec<ScopeGlob>,
    /// What may be written.
    pub write: Vec<ScopeGlob>,
    /// Never, whatever else is listed.
    pub deny: Vec<ScopeGlob>,
    /// Written only after a person approved, even where it acts by itself.
    pub ask: Vec<ScopeGlob>,
}

impl Conduct {
    /// The first pattern that denies `scope`.
    pub fn find_denial(&self, scope: &str) -> Option<&ScopeGlob> {
        self.deny.iter().find(|glob| glob.matches_loosely(scope))
    }

    pub fn allows(&self, scope: &str, writes: bool) -> bool {
        let lane = if writes { &self.write } else { &self.read };
        lane.iter().any(|glob| glob.matches(scope))
    }

    pub fn requires_approval(&self, scope: &str) -> bool {
        self.ask.iter().any(|glob| glob.matches_loosely(scope))
    }
}

/// A pattern over scopes. `*` stands for anything, `{word}` for one part: `ledger.*`, `users/{id}/reset_password`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ScopeGlob(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid scope pattern: use parts of letters, digits, `_`, `-` and `%` separated by dots or slashes, `*` for anything and {{word}} for one part, such as ledger.sale.* or users/{{id}}/reset"
)]
pub struct ScopeGlobError(String);

impl ScopeGlob {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, scope: &str) -> bool {
        matches(self.0.as_bytes(), scope.as_bytes(), Part::Filled)
    }

    /// For what closes: a deny must not be passed by writing a letter large, or by leaving a part empty.
    pub fn matches_loosely(&self, scope: &str) -> bool {
        matches(self.0.to_ascii_lowercase().as_bytes(), scope.to_ascii_lowercase().as_bytes(), Part::Any)
    }
}

/// What `{word}` stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Filled,
    /// Also one that is empty.
    Any,
}

/// One pattern byte at a time, going back to the last `*` when it leads nowhere: linear in pattern times text.
fn matches(glob: &[u8], text: &[u8], word: Part) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at + 1, seen));
                at += 1;
                continue;
            }
            Some(b'{') => {
                let part = text[seen..].iter().take_while(|byte| !matches!(byte, b'.' | b'/')).count();
                if part > 0 || word == Part::Any {
                    at += glob[at..].iter().position(|byte| *byte == b'}').map_or(1, |end| end + 1);
                    seen += part;
                    continue;
                }
            }
            Some(byte) if text.get(seen) == Some(byte) => {
                at += 1;
                seen += 1;
                continue;
            }
            None if seen == text.len() => return true,
            _ => {}
        }
        match star {
            Some((after, from)) if from < text.len() => {
                star = Some((after, from + 1));
                (at, seen) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

impl FromStr for ScopeGlob {
    type Err = ScopeGlobError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ScopeGlobError(text.to_owned());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let close = rest[open..].find('}').map(|end| open + end).ok_or_else(bad)?;
            let word = &rest[open + 1..close];
            let alone = matches!(rest[..open].chars().next_back(), None | Some('.' | '/'))
                && matches!(rest[close + 1..].chars().next(), None | Some('.' | '/'));
            if word.is_empty() || !word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') || !alone {
                return Err(bad());
            }
            rest = &rest[close + 1..];
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.%/*{}".contains(c);
        let fits = (1..=200).contains(&text.len()) && text.chars().all(plain) && !rest.contains('}');
        if fits { Ok(Self(text.to_owned())) } else { Err(bad()) }
    }
}

impl TryFrom<String> for ScopeGlob {
    type Error = ScopeGlobError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ScopeGlob> for String {
    fn from(glob: ScopeGlob) -> Self {
        glob.0
    }
}

impl fmt::Display for ScopeGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> ScopeGlob {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_matches_the_whole_scope() {
        for (pattern, scope, expected) in [
            ("ledger.*", "ledger.sale.write", true),
            ("ledger.*", "ledgers.sale", false),
            ("*", "anything/at.all", true),
            ("ledger.sale", "ledger.sale.write", false),
            ("*.write", "ledger.sale.write", true),
            ("users/{id}/reset", "users/42/reset", true),
            ("users/{id}/reset", "users/42/x/reset", false),
            ("users/{id}/reset", "users//reset", false),
            ("users/{id}", "users/42", true),
            ("*/{id}/delete", "users/all/42/delete", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("Users/*", "users/1", false),
        ] {
            assert_eq!(glob(pattern).matches(scope), expected, "{pattern} on {scope}");
        }
        for (pattern, scope, expected) in [
            ("users/*/delete", "Users/7/DELETE", true),
            ("users/{id}/delete", "users//delete", true),
            ("users/{id}", "users/", true),
            ("users/{id}/{what}", "users//", true),
            ("*/{id}", "users/7/", true),
            ("users/{id}/delete", "users/delete", false),
            ("users/{id}/delete", "users/7/8/delete", false),
        ] {
            assert_eq!(glob(pattern).matches_loosely(scope), expected, "{pattern} on {scope}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for bad in
            ["", "a b", "users/{}", "users/{id", "users/id}", "x{id}", "{id}x", "कर*", &"x".repeat(201)]
        {
            assert!(bad.parse::<ScopeGlob>().is_err(), "{bad}");
        }
    }

    #[test]
    fn deny_wins_and_nothing_is_open_by_itself() {
        let conduct = Conduct {
            read: vec![glob("ledger.*")],
            write: vec![glob("ledger.sale.*")],
            deny: vec![glob("ledger.sale.cancel")],
            ..Conduct::default()
        };
        assert!(conduct.allows("ledger.balance", false) && !conduct.allows("ledger.balance", true));
        assert!(conduct.allows("ledger.sale.add", true));
        assert!(
            conduct.find_denial("ledger.sale.CANCEL").is_some()
                && conduct.find_denial("ledger.sale.add").is_none()
        );
        assert!(!Conduct::default().allows("x", false));
        assert_eq!(Conduct::default().autonomy, Autonomy::Investigate);
        assert!(Autonomy::Off < Autonomy::Investigate && Autonomy::Propose < Autonomy::Act);
    }
}
