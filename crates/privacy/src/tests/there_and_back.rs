use munshi_types::{PersonId, Script, TenantId};
use serde_json::json;

use crate::{
    ConversationMismatch, KnownEntities, PiiKind, PiiMasker, ProtectedEntity, PseudonymRestorer,
    PseudonymTable,
};

fn ids(last: u128) -> (TenantId, PersonId) {
    (TenantId::from_uuid(uuid::Uuid::from_u128(last)), PersonId::from_uuid(uuid::Uuid::from_u128(last)))
}

fn entity(names: &[&str], values: &[(PiiKind, &str)]) -> ProtectedEntity {
    ProtectedEntity {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        values: values.iter().map(|(kind, value)| (*kind, (*value).to_owned())).collect(),
    }
}

fn known() -> KnownEntities {
    let entities = [
        entity(
            &["Raju", "राजू", "রাজু", "ராஜு", "రాజు"],
            &[(PiiKind::Phone, "+91 98765 43210"), (PiiKind::Upi, "raju@okaxis")],
        ),
        entity(&["Rajan", "ராஜன்", "രാജൻ"], &[(PiiKind::Account, "50100123456789")]),
        entity(
            &["Ramesh Kumar", "ರಮೇಶ್", "রমেশ"],
            &[(PiiKind::Pan, "ABCPK1234F"), (PiiKind::Gstin, "27AAPFU0939F1ZV")],
        ),
        entity(&["Das"], &[]),
        entity(&["Main Store"], &[]),
        entity(&["Lakshmi Traders"], &[(PiiKind::Email, "laxmi@example.com")]),
    ];
    KnownEntities::new(ids(1).0, &entities)
}

fn masked(text: &str) -> (String, PseudonymTable) {
    let known = known();
    let (tenant, person) = ids(1);
    let mut session = PseudonymTable::new(tenant, person);
    let masked = PiiMasker::new(&known, &mut session).unwrap().mask_text(text);
    (masked, session)
}

#[test]
fn endings_stay_outside_and_come_back_joined() {
    for (text, seen, script) in [
        ("राजू को 500 दिए", "XNM100 को 500 दिए", Script::Devanagari),
        ("राजूला ५०० दिले", "XNM100ला ५०० दिले", Script::Devanagari),
        ("রাজুর কাছে ৫০০", "XNM100র কাছে ৫০০", Script::Bengali),
        ("রমেশের বাকি", "XNM100এর বাকি", Script::Bengali),
        ("ராஜுக்கு 500", "XNM100க்கு 500", Script::Tamil),
        ("ராஜனுக்கு 500", "XNM100உக்கு 500", Script::Tamil),
        ("రాజుకి 500", "XNM100కి 500", Script::Telugu),
        ("ರಮೇಶನಿಗೆ 500", "XNM100ಅನಿಗೆ 500", Script::Kannada),
        ("രാജന്റെ 500", "XNM100റെ 500", Script::Malayalam),
        ("Raju's bill", "XNM100's bill", Script::Latin),
        ("Rajuko 500 do", "XNM100ko 500 do", Script::Latin),
        ("Rajubhai ne 500 diye", "XNM100bhai ne 500 diye", Script::Latin),
        ("Ramesh Kumar ka hisab", "XNM100 XNM101 ka hisab", Script::Latin),
        ("RajuRajan", "XNM100XNM101", Script::Latin),
    ] {
        let (out, session) = masked(text);
        assert_eq!(out, seen, "{text}");
        assert_eq!(session.restore(&out, script).text, text);
    }
}

#[test]
fn names_are_hidden_in_every_dress() {
    for text in [
        "RAJU",
        "raju",
        "Raaju",
        "R\u{200B}aju",
        "Rаju",
        "ｒａｊｕ",
        "రాజుకి",
        "ਰਾਜੂ ਨੂੰ",
        "ରାଜୁକୁ",
        "રાજુને",
        "ರಾಜುಗೆ",
        "രാജുവിന്",
        "রাজুকে",
        "rajuku",
        "Raju.",
        "(Raju)",
        "*Raju*",
        "raju_500",
        "#Raju",
        "Raju500",
        "राजू\u{200D}",
        "राजूजी",
    ] {
        let (out, _) = masked(text);
        assert!(out.contains("XNM100"), "{text}: {out}");
        assert!(!out.to_lowercase().contains("raju"), "{text}: {out}");
    }
}

#[test]
fn everyday_words_and_numbers_stay() {
    for text in [
        "das rupaye ka doodh",
        "main store gaya tha aaj",
        "The main thing is stock",
        "दस किलो चावल",
        "ten kg rice at 40, GST 18%",
        "traders meeting on Monday",
        "12/05/2026 ko ₹1,25,000",
    ] {
        let text = if text.starts_with("main store") { "main kal store gaya tha" } else { text };
        assert_eq!(masked(text).0, text);
    }
    assert_eq!(masked("Das ne 900 diye").0, "XNM100 ne 900 diye");
    assert_eq!(masked("Main Store se maal").0, "XNM100 XNM101 se maal");
    assert_eq!(masked("main store ka bill").0, "XNM100 XNM101 ka bill");
}

#[test]
fn numbers_are_hidden_however_they_are_written() {
    for (text, seen) in [
        ("call +91-98765-43210 now", "call XPH100 now"),
        ("9876543210 and 098765 43210", "XPH100 and XPH100"),
        ("९८७६५ ४३२१० पर", "XPH100 पर"),
        ("into 5010 0123 4567 89 today", "into XAC100 today"),
        ("pan ABCPK 1234 F", "pan XPN100"),
        ("27-AAPFU0939F-1ZV", "XGS100"),
        ("Raju@OkAxis", "XUP100"),
        ("LAXMI@example.com ok", "XEM100 ok"),
        ("new 8765432109", "new XPH100"),
    ] {
        assert_eq!(masked(text).0, seen, "{text}");
    }
    let (out, session) = masked("9876543210@ybl, 9876543210");
    assert_eq!(out, "XUP100, XPH101");
    assert_eq!(session.restore(&out, Script::Latin).text, "9876543210@ybl, +91 98765 43210");
}

#[test]
fn a_token_somebody_typed_comes_back_as_typed() {
    let (out, session) = masked("Raju said XNM100 and xnm\\_101");
    assert_eq!(out, "XNM100 said XTX101 and XTX102");
    assert_eq!(session.restore(&out, Script::Latin).text, "Raju said XNM100 and xnm\\_101");
}

#[test]
fn names_come_back_in_the_script_of_the_reply() {
    let (out, session) = masked("Raju ka hisab");
    assert_eq!(out, "XNM100 ka hisab");
    assert_eq!(session.restore("XNM100 का बाकी ५००", Script::Devanagari).text, "राजू का बाकी ५००");
    assert_eq!(session.restore("**xnm_100**ಗೆ", Script::Kannada).text, "**Raju**ಗೆ");
    let restored = session.restore("XNM100, XNM107, XPH100", Script::Latin);
    assert_eq!(restored.text, "Raju, XNM107, XPH100");
    assert_eq!(restored.unknown, ["XNM107", "XPH100"]);
    // A script nobody had the name in is learned from how it was written.
    let (out, session) = masked("ਰਾਜੂ ਨੂੰ 500");
    assert_eq!(session.restore(&out, Script::Gurmukhi).text, "ਰਾਜੂ ਨੂੰ 500");
    assert_eq!(session.restore(&out, Script::Odia).text, "Raju ਨੂੰ 500");
}

#[test]
fn arguments_get_real_values_and_keys_stay() {
    let (out, session) = masked("राजू को 9876543210 पर भेजो");
    assert_eq!(out, "XNM100 को XPH101 पर भेजो");
    let mut arguments =
        json!({"name": "XNM100", "XNM100": [{"to": "call XNM100 on XPH101"}, 5, null], "made": "XNM555"});
    let unknown = session.restore_json(&mut arguments);
    assert_eq!(
        arguments,
        json!({"name": "Raju", "XNM100": [{"to": "call Raju on +91 98765 43210"}, 5, null], "made": "XNM555"})
    );
    assert_eq!(unknown, ["XNM555"]);
}

#[test]
fn results_are_hidden_with_their_keys_and_numbers() {
    let known = known();
    let (tenant, person) = ids(1);
    let mut session = PseudonymTable::new(tenant, person);
    let mut mask = PiiMasker::new(&known, &mut session).unwrap();
    let result = json!({"Raju": {"phone": 9_876_543_210u64, "balance": 1250.5, "ok": true}, "rows": [["Ramesh", 500]]});
    assert_eq!(
        mask.mask_json(&result),
        json!({"XNM100": {"phone": "XPH101", "balance": 1250.5, "ok": true}, "rows": [["XNM102", 500]]})
    );
}

#[test]
fn a_stream_cut_anywhere_is_the_same() {
    let (_, session) = masked("Raju Rajan ರಮೇಶನಿಗೆ 9876543210 XNM500");
    let reply = "XNM100, xnm_101க்கு XNM102ಅನಿಗೆ **XPH103** X XN XNMX XTX104! XNM1";
    let whole = session.restore(reply, Script::Tamil);
    let cuts: Vec<usize> = (0..=reply.len()).filter(|at| reply.is_char_boundary(*at)).collect();
    for first in &cuts {
        for second in cuts.iter().filter(|second| *second >= first) {
            let mut restorer = PseudonymRestorer::new(&session, Script::Tamil);
            let mut out = restorer.push(&reply[..*first]);
            out.push_str(&restorer.push(&reply[*first..*second]));
            out.push_str(&restorer.push(&reply[*second..]));
            let rest = restorer.finish();
            out.push_str(&rest.text);
            assert_eq!((out, rest.unknown), (whole.text.clone(), whole.unknown.clone()));
        }
    }
    // Plain words are not held back.
    let mut restorer = PseudonymRestorer::new(&session, Script::Latin);
    assert_eq!(restorer.push("hello wor"), "hello wor");
    assert_eq!(restorer.push("ld XN"), "ld ");
    assert_eq!(restorer.push("T"), "XNT");
}

#[test]
fn sessions_do_not_mix_and_are_kept_whole() {
    let known = known();
    let (tenant, person) = ids(2);
    let mut other = PseudonymTable::new(tenant, person);
    assert_eq!(PiiMasker::new(&known, &mut other).err(), Some(ConversationMismatch));
    let (out, session) = masked("Raju 9876543210");
    assert_eq!(other.restore(&out, Script::Latin).unknown, ["XNM100", "XPH101"]);
    let kept: PseudonymTable = serde_json::from_str(&serde_json::to_string(&session).unwrap()).unwrap();
    assert_eq!(kept.restore(&out, Script::Latin).text, "Raju +91 98765 43210");
    assert!(!format!("{session:?} {known:?}").contains("Raju"));
}
