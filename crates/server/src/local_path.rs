//! Where to go on after signing in: somewhere here, and nowhere else.

/// Longer ones are nobody's bookmark.
const LONGEST: usize = 500;

/// A path of ours as it was asked for, or the account's own page. `//evil.example`, `/\evil.example` and what a browser
/// may make of tabs and line ends all lead elsewhere.
pub fn sanitize(asked: Option<&str>) -> &str {
    const HOME: &str = "/account";
    let Some(asked) = asked else { return HOME };
    let graphic = asked.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let fits = graphic && asked.len() <= LONGEST && asked.starts_with('/') && !asked.starts_with("//");
    if fits { asked } else { HOME }
}

/// A text as it may stand in an address.
pub fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_paths_of_ours_are_gone_on_to() {
        for good in ["/", "/account/keys?x=1", "/chat/shop#end", "/a//b"] {
            assert_eq!(sanitize(Some(good)), good);
        }
        for bad in [
            "",
            "account",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\/evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/क",
            " /x",
        ] {
            assert_eq!(sanitize(Some(bad)), "/account", "{bad:?}");
        }
        assert_eq!(sanitize(None), "/account");
        assert_eq!(sanitize(Some(&format!("/{}", "a".repeat(600)))), "/account");
        assert_eq!(percent_encode("/a?b=c&é"), "%2Fa%3Fb%3Dc%26%C3%A9");
    }

    proptest! {
        /// As a browser resolves it against our own address.
        #[test]
        fn whatever_is_asked_for_stays_here(asked in "[/\\\\a-z:.\\t@ ]{0,12}") {
            let base = hyper::Uri::from_static("http://here.example/");
            let target = sanitize(Some(&asked));
            prop_assert!(target.starts_with('/') && !target.starts_with("//") && !target.contains('\\'));
            let uri: hyper::Uri = target.parse().unwrap_or(base);
            prop_assert!(uri.host().is_none_or(|host| host == "here.example"));
        }
    }
}
