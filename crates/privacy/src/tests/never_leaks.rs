//! What is known never reaches a cloud model, and all of it comes back.

use std::sync::LazyLock;

use munshi_lang::text_words::PlainWord;
use munshi_types::{PersonId, Script, TenantId};
use proptest::prelude::*;
use serde_json::json;

use super::invented::{Invented, SCRIPTS, dressed, endings, frame, invented};
use crate::compact::squeeze;
use crate::{
    HiddenFields, KnownEntities, PiiKind, PiiMasker, ProtectedEntity, PseudonymRestorer, PseudonymTable,
    Redaction, RedactionProfile, Scrubber, find_aadhaar,
};

fn tenant() -> TenantId {
    TenantId::from_uuid(uuid::Uuid::from_u128(7))
}

fn session() -> PseudonymTable {
    PseudonymTable::new(tenant(), PersonId::from_uuid(uuid::Uuid::from_u128(8)))
}

/// Whether a name can be read in a text by somebody who looks past case, marks nobody sees and lookalikes.
fn reads(text: &str, name: &str) -> bool {
    let plain =
        |text: &str| text.split(' ').map(|word| PlainWord::new(word).text).collect::<Vec<_>>().join(" ");
    plain(text).contains(&plain(name))
}

fn person(name: &Invented, scripts: &[Script]) -> ProtectedEntity {
    ProtectedEntity {
        names: scripts.iter().map(|script| name.spelled(*script)).collect(),
        values: Vec::new(),
    }
}

fn script() -> impl Strategy<Value = Script> {
    prop::sample::select(&SCRIPTS[..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_known_name_is_seen_in_any_script(
        name in invented(), others in prop::collection::vec(invented(), 0..4),
        stored in script(), written in script(), ending in 0usize..9, dress in 0u8..6, at in 0usize..9,
    ) {
        let entities: Vec<ProtectedEntity> = others.iter().chain([&name]).map(|name| person(name, &[stored])).collect();
        let known = KnownEntities::new(tenant(), &entities);
        let mut session = session();
        let said = name.spelled(written);
        let (before, after) = frame(written);
        let ending = endings(written)[ending % endings(written).len()];
        let text = format!("{before}{}{ending}{after}", dressed(&said, dress, at));
        let seen = PiiMasker::new(&known, &mut session).unwrap().mask_text(&text);
        prop_assert!(!reads(&seen, &said), "{text}: {seen}");
        prop_assert!(seen.contains("XNM"), "{text}: {seen}");
        prop_assert!(seen.contains("500") || !text.contains("500"), "the amount stays: {seen}");
    }

    #[test]
    fn what_was_hidden_comes_back(
        name in invented(), other in invented(), written in script(), ending in 0usize..9, dress in 0u8..6, at in 0usize..9, cut in 0usize..99,
    ) {
        let entities = [person(&name, &SCRIPTS), person(&other, &[Script::Latin])];
        let known = KnownEntities::new(tenant(), &entities);
        let mut session = session();
        let said = name.spelled(written);
        let (before, after) = frame(written);
        let ending = endings(written)[ending % endings(written).len()];
        let clean = format!("{before}{said}{ending}{after} ({said})");
        let text = format!("{before}{}{ending}{after} ({said})", dressed(&said, dress, at));
        let seen = PiiMasker::new(&known, &mut session).unwrap().mask_text(&text);
        let restored = session.restore(&seen, written).text;
        // As it is known, or as it was typed where only its look gave it away.
        prop_assert!(restored == clean || restored == text, "{restored:?} of {seen:?}");

        let mut restorer = PseudonymRestorer::new(&session, written);
        let cut = (0..=cut % (seen.len() + 1)).rev().find(|at| seen.is_char_boundary(*at)).unwrap();
        let mut streamed = restorer.push(&seen[..cut]);
        streamed.push_str(&restorer.push(&seen[cut..]));
        let rest = restorer.finish();
        streamed.push_str(&rest.text);
        prop_assert_eq!(streamed, restored);
        prop_assert!(rest.unknown.is_empty());
    }

    #[test]
    fn arguments_hold_the_stored_name(name in invented(), stored in script(), written in script()) {
        let known = KnownEntities::new(tenant(), &[person(&name, &[stored])]);
        let mut session = session();
        let seen = PiiMasker::new(&known, &mut session).unwrap().mask_json(&json!([name.spelled(stored), {"n": [name.spelled(written)]}]));
        let mut arguments = seen;
        prop_assert!(session.restore_json(&mut arguments).is_empty());
        prop_assert_eq!(&arguments[0], &json!(name.spelled(stored)));
    }

    #[test]
    fn no_known_number_is_seen(
        phone in "[6-9][0-9]{9}", account in "[1-9][0-9]{8,15}", pan in "[A-Z]{3}P[A-Z][0-9]{4}[A-Z]", local in "[a-z]{3,8}",
        parts in prop::collection::vec(prop::sample::select(vec!["", " ", "-", ".", "\u{200B}", " - ", "\u{A0}"]), 32),
        zero in prop::sample::select(vec!['0', '०', '০', '௦', '౦', '０']), front in prop::sample::select(vec!["", "+91 ", "0", "91", "call "]),
    ) {
        let upi = format!("{local}@okicici");
        let values = vec![(PiiKind::Phone, format!("+91{phone}")), (PiiKind::Account, account.clone()), (PiiKind::Pan, pan.clone()), (PiiKind::Upi, upi.clone())];
        let known = KnownEntities::new(tenant(), &[ProtectedEntity { names: Vec::new(), values }]);
        let spread = |value: &str, from: usize| -> String {
            value.chars().enumerate().flat_map(|(at, letter)| {
                let letter = letter.to_digit(10).map_or(letter, |digit| char::from_u32(zero as u32 + digit).unwrap());
                let part = if at == 0 { "" } else { parts[(from + at) % parts.len()] };
                part.chars().chain([letter])
            }).collect()
        };
        let text = format!("x {front}{}, y {} z {} ({})", spread(&phone, 0), spread(&account, 9), spread(&pan, 3), upi.to_uppercase());
        let mut session = session();
        let seen = PiiMasker::new(&known, &mut session).unwrap().mask_text(&text);
        for value in [&phone, &account, &pan, &upi] {
            prop_assert!(!squeeze(&seen).contains(&squeeze(value)), "{value} in {text}: {seen}");
        }
        let mut arguments = json!({"text": seen});
        session.restore_json(&mut arguments);
        let back = squeeze(arguments["text"].as_str().unwrap());
        for value in [&phone, &account, &pan, &upi] {
            prop_assert!(back.contains(&squeeze(value)), "{value} in {back}");
        }
    }

}

/// The same in every case, and made once: making it costs more than looking at a short text.
static RAJU: LazyLock<KnownEntities> = LazyLock::new(|| {
    let names = vec!["Raju".into(), "राजू".into()];
    KnownEntities::new(
        tenant(),
        &[ProtectedEntity { names, values: vec![(PiiKind::Phone, "9876543210".into())] }],
    )
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_breaks_on_any_text(text in any::<String>(), more in "[XNMPH0-9 _@.,:+\\-/अ-हऀ-ॏA-Za-z\u{200B}]{0,60}") {
        let known = &*RAJU;
        let fields = HiddenFields::new(["a.*"]);
        for text in [text, more] {
            let mut session = session();
            let seen = PiiMasker::new(known, &mut session).unwrap().mask_text(&text);
            prop_assert!(session.restore(&seen, Script::Latin).unknown.is_empty(), "{seen}");
            session.restore(&text, Script::Tamil);
            find_aadhaar(&text);
            for profile in [RedactionProfile::Standard, RedactionProfile::Finance, RedactionProfile::Hipaa] {
                let redaction = Redaction { profile, fields: &fields, known: Some(known) };
                let once = redaction.redact_text(&text);
                prop_assert_eq!(redaction.redact_text(&once), once.clone(), "{} {:?}", once, profile);
            }
            let scrubber = Scrubber::new(["hunter2"]);
            let once = scrubber.scrub_text(&text).into_owned();
            prop_assert_eq!(scrubber.scrub_text(&once), once.clone());
        }
    }
}
