//! No text takes longer than its length: whoever writes it must not be able to keep a turn busy.

use std::hint::black_box;
use std::time::{Duration, Instant};

use munshi_types::{PersonId, Script, TenantId};
use uuid::Uuid;

use crate::{
    HiddenFields, KnownEntities, PiiKind, PiiMasker, ProtectedEntity, PseudonymRestorer, PseudonymTable,
    Redaction, RedactionProfile, Scrubber, find_aadhaar,
};

/// What once was looked at again and again, and what looks as if it could be.
const UNITS: [&str; 26] = [
    "bearer",
    "password=[secret",
    "token=\"",
    "-----BEGIN ",
    "http://",
    "a:",
    "X\u{200b}\u{200b}",
    "XNM",
    "XNM1",
    "@",
    "a@",
    "a.b-",
    "1 ",
    "1-",
    "1,",
    "2500 7575 5050 ",
    "2345 6789 0124 ",
    "98765 43210 ",
    "₹ ",
    "1\u{200b}",
    "a/c ",
    "Raju ",
    "Raju",
    "राजू",
    "क्\u{200d}",
    "Mr. ",
];

/// Sixteen times the text takes sixteen times as long, more where it leaves the processor's memory; what looks at the rest
/// for each of its words takes 256 times.
const LONGER: usize = 16;
const MOST: f64 = 150.0;
const TRIES: usize = 12;

fn tenant() -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(1))
}

fn session() -> PseudonymTable {
    PseudonymTable::new(tenant(), PersonId::from_uuid(Uuid::from_u128(2)))
}

fn people() -> KnownEntities {
    let names = vec!["Raju".to_owned(), "राजू".to_owned()];
    let values = vec![(PiiKind::Phone, "9876543210".to_owned())];
    KnownEntities::new(tenant(), &[ProtectedEntity { names, values }])
}

/// A job, and what parts the pieces of its long text: names are read word by word, and a word is read for longer the
/// longer it is.
type Job<'a> = (&'static str, &'static str, Box<dyn Fn(&str) + 'a>);

fn jobs<'a>(known: &'a KnownEntities, fields: &'a HiddenFields) -> Vec<Job<'a>> {
    let redact = move |profile| {
        move |text: &str| drop(Redaction { profile, fields, known: Some(known) }.redact_text(text))
    };
    vec![
        (
            "mask and restore",
            " ",
            Box::new(move |text| {
                // A list of its own, which remembers no text.
                let (known, mut session) = (people(), session());
                let seen = PiiMasker::new(&known, &mut session).unwrap().mask_text(text);
                session.restore(&seen, Script::Latin);
            }),
        ),
        (
            "restore letter by letter",
            "",
            Box::new(|text| {
                let session = session();
                let mut restorer = PseudonymRestorer::new(&session, Script::Tamil);
                for letter in text.chars() {
                    restorer.push(letter.encode_utf8(&mut [0; 4]));
                }
                restorer.finish();
            }),
        ),
        (
            "refuse Aadhaar",
            "",
            Box::new(|text| {
                black_box(find_aadhaar(text));
            }),
        ),
        ("redact, standard", " ", Box::new(redact(RedactionProfile::Standard))),
        ("redact, HIPAA", " ", Box::new(redact(RedactionProfile::Hipaa))),
        ("scrub", "", Box::new(|text| drop(Scrubber::new(["hunter2"]).scrub_text(text)))),
    ]
}

fn time(job: &dyn Fn(&str), text: &str) -> Duration {
    let began = Instant::now();
    job(text);
    began.elapsed()
}

#[test]
fn no_text_takes_longer_than_its_length() {
    let (known, fields) = (people(), HiddenFields::new(["a.*"]));
    for (what, glue, job) in jobs(&known, &fields) {
        for unit in UNITS {
            let short = unit.repeat(1_500 / unit.len());
            let long = vec![short.as_str(); LONGER].join(glue);
            // The machine may be busy: only what is slow every time is slow.
            let ratios = (0..TRIES).map(|_| {
                let small = (0..3).map(|_| time(&job, &short)).min().unwrap_or_default();
                let large = time(&job, &long);
                (large.as_secs_f64() / small.as_secs_f64().max(20e-6), large)
            });
            let slow = ratios.take_while(|(ratio, _)| *ratio > MOST).collect::<Vec<_>>();
            assert!(slow.len() < TRIES, "{what}: {unit:?} times {LONGER} takes {slow:?}");
        }
    }
}
