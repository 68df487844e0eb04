//! What an answer of a server means.

use super::reader::{ImapAnswer, LITERAL};

/// Nobody nests lists deeper.
const DEEPEST: usize = 16;

/// What an answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    /// To no command in particular; the words behind the star.
    Untagged,
    /// The server waits for more of a command.
    GoOn,
    /// The end of a command: `OK`, `NO` or `BAD`, and what was said.
    Tagged { tag: String, status: AnswerStatus, words: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerStatus {
    Ok,
    /// It can't be done.
    No,
    /// It was not understood.
    Bad,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ImapToken {
    Open,
    Close,
    Word(Vec<u8>),
}

/// What was said of one mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::email::incoming) struct FetchedItems {
    pub uid: Option<u32>,
    pub size: Option<u64>,
    pub received: Option<String>,
    /// The part that was asked for.
    pub body: Option<Vec<u8>>,
}

impl ImapAnswer {
    pub(super) fn kind(&self) -> AnswerKind {
        let text = String::from_utf8_lossy(&self.text);
        let (first, rest) = text.split_once(' ').unwrap_or((&*text, ""));
        match first {
            "*" => AnswerKind::Untagged,
            "+" => AnswerKind::GoOn,
            tag => {
                let (status, words) = rest.split_once(' ').unwrap_or((rest, ""));
                let status = match status.to_ascii_uppercase().as_str() {
                    "OK" => AnswerStatus::Ok,
                    "NO" => AnswerStatus::No,
                    _ => AnswerStatus::Bad,
                };
                AnswerKind::Tagged { tag: tag.to_owned(), status, words: words.to_owned() }
            }
        }
    }

    /// The words behind the star, where it begins with these.
    pub(super) fn strip(&self, name: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&self.text);
        let rest = text.strip_prefix("* ")?;
        let own = rest.get(..name.len())?;
        let behind = &rest[name.len()..];
        let is_whole = behind.is_empty() || behind.starts_with(' ');
        (own.eq_ignore_ascii_case(name) && is_whole).then(|| behind.trim().to_owned())
    }

    /// The number behind a code in brackets, as in `* OK [UIDNEXT 7] …`, in any answer.
    pub(super) fn code(&self, name: &str) -> Option<u32> {
        let text = String::from_utf8_lossy(&self.text).to_ascii_uppercase();
        let start = text.find(&format!("[{name} "))? + name.len() + 2;
        let digits: String = text[start..].chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    }

    /// `* 3 EXISTS`: how many mails there are.
    pub(super) fn exists(&self) -> Option<u32> {
        let text = String::from_utf8_lossy(&self.text);
        let (number, word) = text.strip_prefix("* ")?.split_once(' ')?;
        word.trim().eq_ignore_ascii_case("EXISTS").then(|| number.parse().ok()).flatten()
    }

    /// `* 3 FETCH (…)`; none where it is anything else, or can't be read.
    pub(super) fn fetched(&self) -> Option<FetchedItems> {
        let tokens = self.tokens()?;
        let [ImapToken::Word(star), ImapToken::Word(_), ImapToken::Word(fetch), ImapToken::Open, rest @ ..] =
            tokens.as_slice()
        else {
            return None;
        };
        if star != b"*" || !fetch.eq_ignore_ascii_case(b"FETCH") {
            return None;
        }
        let mut items = FetchedItems::default();
        let mut rest = rest.iter();
        while let Some(ImapToken::Word(name)) = rest.next() {
            let name = String::from_utf8_lossy(name).to_ascii_uppercase();
            let value = match rest.next()? {
                ImapToken::Word(value) => value.clone(),
                ImapToken::Open => {
                    skip_list(&mut rest);
                    continue;
                }
                ImapToken::Close => break,
            };
            let text = || String::from_utf8_lossy(&value).into_owned();
            match name.as_str() {
                "UID" => items.uid = text().parse().ok(),
                "RFC822.SIZE" => items.size = text().parse().ok(),
                "INTERNALDATE" => items.received = Some(text()),
                name if name.starts_with("BODY[") => items.body = Some(value),
                _ => {}
            }
        }
        Some(items)
    }

    /// None where a quotation has no end, or lists lie too deep in each other.
    fn tokens(&self) -> Option<Vec<ImapToken>> {
        let mut tokens = Vec::new();
        let mut literals = self.literals.iter();
        let (mut at, mut depth) = (0, 0_usize);
        while let Some(byte) = self.text.get(at).copied() {
            at += 1;
            match byte {
                b' ' => {}
                b'(' => {
                    depth += 1;
                    tokens.push(ImapToken::Open);
                }
                b')' => {
                    depth = depth.saturating_sub(1);
                    tokens.push(ImapToken::Close);
                }
                b'"' => {
                    let (word, behind) = read_quoted(&self.text, at)?;
                    tokens.push(ImapToken::Word(word));
                    at = behind;
                }
                LITERAL => tokens.push(ImapToken::Word(literals.next()?.clone())),
                _ => {
                    let start = at - 1;
                    at = find_word_end(&self.text, start);
                    tokens.push(ImapToken::Word(self.text[start..at].to_vec()));
                }
            }
            if depth > DEEPEST {
                return None;
            }
        }
        Some(tokens)
    }
}

fn skip_list(rest: &mut std::slice::Iter<'_, ImapToken>) {
    let mut depth = 1;
    for token in rest.by_ref() {
        match token {
            ImapToken::Open => depth += 1,
            ImapToken::Close => depth -= 1,
            ImapToken::Word(_) => {}
        }
        if depth == 0 {
            return;
        }
    }
}

fn read_quoted(text: &[u8], from: usize) -> Option<(Vec<u8>, usize)> {
    let mut word = Vec::new();
    let mut at = from;
    loop {
        match *text.get(at)? {
            b'"' => return Some((word, at + 1)),
            b'\\' => {
                word.push(*text.get(at + 1)?);
                at += 2;
            }
            byte => {
                word.push(byte);
                at += 1;
            }
        }
    }
}

/// A word goes on within brackets, as in `BODY[HEADER.FIELDS (DATE)]`.
fn find_word_end(text: &[u8], from: usize) -> usize {
    let mut is_within = false;
    for (at, byte) in text.iter().copied().enumerate().skip(from) {
        match byte {
            b'[' => is_within = true,
            b']' => is_within = false,
            b' ' | b'(' | b')' | b'"' | LITERAL if !is_within => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(text: &str, literals: &[&str]) -> ImapAnswer {
        let literals = literals.iter().map(|text| text.as_bytes().to_vec()).collect();
        ImapAnswer { text: text.as_bytes().to_vec(), literals }
    }

    #[test]
    fn a_mail_is_read_whatever_stands_around_it() {
        for (text, literals) in [
            (
                "* 1 FETCH (UID 7 RFC822.SIZE 12 INTERNALDATE \"17-Jul-2026 02:44:25 +0530\" BODY[] \0)",
                vec!["mail"],
            ),
            (
                "* 1 FETCH (FLAGS (\\Seen \"odd)\") BODY[]<0> \0 UID 7 ENVELOPE (\"a\" (NIL \0)) rfc822.size 12 \
                 INTERNALDATE \"17-Jul-2026 02:44:25 +0530\")",
                vec!["mail", "b"],
            ),
        ] {
            let items = answer(text, &literals).fetched().unwrap();
            assert_eq!(
                (items.uid, items.size, items.body.as_deref()),
                (Some(7), Some(12), Some(&b"mail"[..]))
            );
            assert_eq!(items.received.as_deref(), Some("17-Jul-2026 02:44:25 +0530"));
        }
        assert_eq!(answer("* 1 FETCH (BODY[] \"\" UID 3)", &[]).fetched().unwrap().body, Some(Vec::new()));
        for text in ["* 1 EXISTS", "* OK FETCH", "* 1 FETCH (BODY[] \"open", "* 1 FETCH (BODY[] \0"] {
            let items = answer(text, &[]).fetched();
            assert!(items.is_none_or(|items| items == FetchedItems::default()), "{text}");
        }
    }

    #[test]
    fn answers_are_told_apart() {
        assert_eq!(answer("* SEARCH 1 2", &[]).strip("search").as_deref(), Some("1 2"));
        assert_eq!(answer("* SEARCH", &[]).strip("SEARCH").as_deref(), Some(""));
        assert_eq!(answer("* SEARCHING 1", &[]).strip("SEARCH"), None);
        assert_eq!(answer("* OK [UIDVALIDITY 17] fine", &[]).code("UIDVALIDITY"), Some(17));
        assert_eq!(answer("* OK [uidnext 9]", &[]).code("UIDNEXT"), Some(9));
        assert_eq!(answer("* 12 EXISTS", &[]).exists(), Some(12));
        assert_eq!(answer("* 12 EXPUNGE", &[]).exists(), None);
        let no = AnswerKind::Tagged {
            tag: "a1".to_owned(),
            status: AnswerStatus::No,
            words: "[X] bad".to_owned(),
        };
        assert_eq!(answer("a1 NO [X] bad", &[]).kind(), no);
        assert_eq!(answer("+ idling", &[]).kind(), AnswerKind::GoOn);
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_borne(text in "[ -~\u{0}()\"\\\\]{0,200}", literals in 0_usize..4) {
            let literals = vec![b"x".to_vec(); literals];
            for text in [text.clone(), format!("* 1 FETCH ({text}"), format!("* {text}")] {
                let answer = ImapAnswer { text: text.into_bytes(), literals: literals.clone() };
                let _read = (answer.kind(), answer.fetched(), answer.exists(), answer.code("UIDNEXT"), answer.strip("SEARCH"));
            }
        }
    }
}
