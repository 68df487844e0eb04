//! Marks at the start, line ends, and prose that looks like something else.

use munshi_tiers::files;
use munshi_types::tier::TierKind;
use proptest::prelude::*;

use crate::tiers::support::example;

const FRONT: &str = "+++\nname = \"Meera\"\nidentity = \"You.\"\n+++\n";

fn soul(bytes: &[u8]) -> String {
    let draft = files::parse(TierKind::Human, "meera".parse().unwrap(), "meera.md", bytes).unwrap();
    draft.body.get("soul").map(|soul| soul.as_str().unwrap().to_owned()).unwrap_or_default()
}

#[test]
fn a_mark_and_windows_line_ends_make_no_difference() {
    let plain = format!("{FRONT}\nOne.\n\nTwo.\n");
    assert_eq!(soul(plain.as_bytes()), "One.\n\nTwo.");
    let windows = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    assert_eq!(soul(windows.as_bytes()), "One.\n\nTwo.");
}

#[test]
fn the_empty_line_before_the_prose_may_be_left_out() {
    assert_eq!(soul(format!("{FRONT}One.\n").as_bytes()), "One.");
    assert_eq!(soul(format!("{FRONT}One.").as_bytes()), "One.");
    assert_eq!(soul(FRONT.as_bytes()), "");
    assert_eq!(soul(FRONT.trim_end().as_bytes()), "");
}

#[test]
fn prose_may_look_like_front_matter() {
    let prose = "+++\nname = \"no key\"\n+++\n---\n# Heading";
    assert_eq!(soul(format!("{FRONT}\n{prose}\n").as_bytes()), prose);
}

#[test]
fn places_count_in_characters_past_a_mark() {
    let text = "\u{feff}+++\r\nname = \"मीरा\"\r\nidentity = \"तुम\"\r\nlock = 1\r\n+++\r\n";
    let problems = files::parse(TierKind::Human, "m".parse().unwrap(), "m.md", text.as_bytes()).unwrap_err();
    assert_eq!(problems[0].to_string().lines().next(), Some("m.md:4:1: unknown key `lock`"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is in a file, it is read or refused with a place in it.
    #[test]
    fn no_file_is_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..400, kind in 0_usize..4) {
        let kind = TierKind::ALL[kind];
        let files = example();
        let (_, text) = files.iter().find(|(path, _)| path.starts_with(kind.folder())).unwrap();
        let mut spoilt = text.as_bytes().to_vec();
        let at = cut.min(spoilt.len());
        spoilt.splice(at..at, bytes.iter().copied());
        for bytes in [&bytes, &spoilt] {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            if let Err(problems) = files::parse(kind, "x".parse().unwrap(), "x", bytes) {
                prop_assert!(!problems.is_empty());
                prop_assert!(problems.iter().all(|problem| problem.line.is_none_or(|line| line <= lines)), "{problems:?}");
            }
        }
    }
}
