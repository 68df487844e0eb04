//! What holds for every text.

#![allow(clippy::unwrap_used, reason = "a test")]

use munshi_guardrails::{
    GuardrailContext, GuardrailParameters, GuardrailRuleSet, ReplyPiece, split_sentences,
};
use proptest::prelude::*;

/// Texts with what rules look for in them, disguised and not, and anything between.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        "[a-z ]{0,20}",
        "[0-9 .,-]{0,20}",
        "[\u{900}-\u{97F} ]{0,12}",
        "[\u{B80}-\u{BFF} ]{0,12}",
        prop::sample::select(vec![
            "10% off",
            "discount. ",
            "d i s c o u n t",
            "₹499 ",
            "Rs. 500",
            "OTP is 482913. ",
            "password: Blue@77 ",
            "2345 6789 0124",
            "4111 1111 1111 1111 ",
            "I am human. ",
            "आपको छूट मिलेगी। ",
            "\n",
            "… ",
            "! ",
            "\u{200B}",
            "ABCPK1234F ",
            "UHID 44213 ",
            "Mrs. Anita is HIV positive. ",
            "sk_live_4f9aK2mNq8ZrT1xW7bYc ",
            "🔥",
            "\"",
            "e.g. ",
            "only 2 left ",
            "{\"a\": 1} ",
            "தள்ளுபடி ",
            "No. 5 ",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn waiting() -> GuardrailContext {
    GuardrailContext {
        turns_since_price: Some(0),
        persona: Some("Meera".into()),
        ..GuardrailContext::default()
    }
}

fn said(pieces: &[ReplyPiece]) -> String {
    let parts = pieces.iter().map(|piece| match piece {
        ReplyPiece::Text(text) => text.clone(),
        ReplyPiece::Say(phrase) => format!("<{phrase}>"),
    });
    parts.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_stream_clears_what_the_whole_does(text in text(), cuts in prop::collection::vec(1usize..9, 1..20)) {
        let set = GuardrailRuleSet::shipped();
        let whole = set.check(&text, &waiting());
        let mut checker = set.checker(waiting());
        let mut pieces = Vec::new();
        let mut violations = Vec::new();
        let mut letters = text.chars();
        for size in cuts.iter().cycle() {
            let delta: String = letters.by_ref().take(*size).collect();
            if delta.is_empty() {
                break;
            }
            let cleared = checker.push(&delta);
            pieces.extend(cleared.pieces);
            violations.extend(cleared.violations);
        }
        let last = checker.finish();
        pieces.extend(last.pieces);
        violations.extend(last.violations);
        prop_assert_eq!(said(&pieces), said(&whole.pieces));
        prop_assert_eq!(violations, whole.violations);
    }

    #[test]
    fn spans_are_whole_characters_of_the_reply(text in text()) {
        for violation in GuardrailRuleSet::shipped().check(&text, &waiting()).violations {
            prop_assert!(text.get(violation.span.clone()).is_some(), "{:?}", violation);
        }
    }

    #[test]
    fn sentences_cover_the_text(text in text()) {
        let mut at = 0;
        for range in split_sentences(&text) {
            prop_assert_eq!(range.start, at);
            prop_assert!(text.get(range.clone()).is_some());
            at = range.end;
        }
        prop_assert_eq!(at, text.len());
    }

    #[test]
    fn what_was_hidden_is_left_alone(text in text()) {
        let rules = ["phi-redaction", "no-secrets", "identity-numbers"];
        let set = GuardrailRuleSet::new(&rules, GuardrailParameters::default(), Vec::new()).unwrap();
        let once = set.check(&text, &waiting()).text();
        let twice = set.check(&once, &waiting()).text();
        prop_assert_eq!(twice, once);
    }

    /// A sentence that is taken out brings its neighbours together, which may say a price again; it ends all the same.
    #[test]
    fn taking_out_comes_to_an_end(text in text()) {
        let set = GuardrailRuleSet::new(&["price-cooldown"], GuardrailParameters::default(), Vec::new()).unwrap();
        let mut now = set.check(&text, &waiting()).text();
        for _ in 0..text.len() {
            let next = set.check(&now, &waiting()).text();
            if next == now {
                return Ok(());
            }
            prop_assert!(next.len() < now.len(), "{} {}", now, next);
            now = next;
        }
    }
}
