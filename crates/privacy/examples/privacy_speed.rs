//! What masking a prompt and restoring a reply cost, against a thousand contacts.
//!
//! `cargo run --release -p munshi-privacy --example privacy_speed`

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::hint::black_box;
use std::time::Instant;

use munshi_privacy::{
    HiddenFields, KnownEntities, PiiKind, PiiMasker, ProtectedEntity, PseudonymRestorer, PseudonymTable,
    Redaction, RedactionProfile, Scrubber, find_aadhaar,
};
use munshi_types::{PersonId, Script, TenantId};

const FIRST: &[&str] = &[
    "Ramesh", "Suresh", "Mahesh", "Rajan", "Lakshmi", "Gupta", "Anil", "Sunil", "Kavita", "Savita", "Mohan",
    "Sohan", "Abdul", "Fatima", "Gurpreet", "Harpreet", "Venkat", "Murugan", "Selvi", "Krishna", "Radha",
    "Bipin", "Nitin", "Pooja", "Deepak", "Arun", "Varun", "Tarun", "Kiran", "Jyoti", "Raju", "Babu",
];
const LAST: &[&str] = &[
    "Kumar", "Sharma", "Traders", "Stores", "Patel", "Reddy", "Nair", "Das", "Singh", "Khan", "Iyer", "Rao",
    "Shah", "Joshi", "Yadav", "Verma", "Mehta", "Bose", "Sahu", "Gowda", "Pillai", "Naik", "Gill", "Roy",
    "Jain", "Mishra", "Pandey", "Chauhan", "Desai", "Kulkarni", "Hegde", "Menon",
];
const LINES: &[&str] = &[
    "Ramesh Kumar owes 4,500 since 12/05/2026, last paid 1,250 by UPI ref 423456789012.",
    "कल सुरेश को साढ़े तीन सौ का सामान उधार दिया, बाकी 2,340 है",
    "Gupta Traders ku anjaayiram rubai kuduthen, naalaiku balance tharen",
    "రాజన్ కి ఐదు వందలు అప్పు, ఫోన్ 98765 43210",
    "stock: 40 kg rice at 52, 15 litres oil at 140, 3 boxes biscuits, GST 5% extra",
    "The owner prefers short answers in Hindi and wants a reminder on the fifth of every month.",
    "രമേശ് ഇന്നലെ ആയിരത്തി ഇരുനൂറ് രൂപ തിരിച്ചു തന്നു",
    "Lakshmi asked whether the delivery of twelve cartons can come on Monday before noon.",
];

fn main() -> anyhow::Result<()> {
    let tenant = TenantId::from_uuid(uuid::Uuid::from_u128(1));
    let entities: Vec<ProtectedEntity> = (0..1_000)
        .map(|at| ProtectedEntity {
            names: vec![
                format!("{} {}", FIRST[at / 32], LAST[at % 32]),
                format!("N{} {}", syllables(at), LAST[at % 32]),
            ],
            values: vec![(PiiKind::Phone, format!("+91{}", 9_000_000_000u64 + at as u64 * 7_919))],
        })
        .collect();
    let start = Instant::now();
    let known = KnownEntities::new(tenant, &entities);
    println!(
        "known: {} entities made ready in {:.2} ms",
        entities.len(),
        start.elapsed().as_secs_f64() * 1e3
    );

    // About four characters a token.
    let prompt: String = LINES
        .iter()
        .cycle()
        .scan(0, |length, line| {
            (*length < 16_000).then(|| {
                *length += line.chars().count() + 1;
                format!("{line}\n")
            })
        })
        .collect();
    println!("dynamic part: {} characters, {} bytes", prompt.chars().count(), prompt.len());
    let mut session = PseudonymTable::new(tenant, PersonId::from_uuid(uuid::Uuid::from_u128(2)));
    let start = Instant::now();
    let seen = PiiMasker::new(&known, &mut session)?.mask_text(&prompt);
    println!(
        "masked first: {:.0} us ({} tokens in the session)",
        start.elapsed().as_secs_f64() * 1e6,
        session.len()
    );
    let message = LINES[1];
    let mask = best(|| {
        black_box(PiiMasker::new(&known, &mut session).map(|mut mask| mask.mask_text(black_box(&prompt))))
            .ok();
    });
    let one = best(|| {
        black_box(PiiMasker::new(&known, &mut session).map(|mut mask| mask.mask_text(black_box(message))))
            .ok();
    });
    println!("mask: {mask:.0} us the dynamic part, {one:.1} us a message");
    let whole = best(|| drop(black_box(session.restore(black_box(&seen), Script::Devanagari))));
    let streamed = best(|| {
        let mut restorer = PseudonymRestorer::new(&session, Script::Devanagari);
        for piece in seen.split_inclusive(' ') {
            black_box(restorer.push(piece));
        }
        black_box(restorer.finish());
    });
    println!("restore: {whole:.0} us whole, {streamed:.0} us as a stream of words");
    let fields = HiddenFields::new(["notes", "customer.*.phone"]);
    for profile in [RedactionProfile::Standard, RedactionProfile::Finance, RedactionProfile::Hipaa] {
        let redaction = Redaction { profile, fields: &fields, known: None };
        println!(
            "{profile:?}: {:.0} us the dynamic part, {:.1} us a message",
            best(|| drop(black_box(redaction.redact_text(&prompt)))),
            best(|| drop(black_box(redaction.redact_text(message))))
        );
    }
    let scrubber = Scrubber::new(["hunter2-hunter2"]);
    println!("scrub: {:.0} us the dynamic part", best(|| drop(black_box(scrubber.scrub_text(&prompt)))));
    println!(
        "refuse_aadhaar: {:.1} us a message",
        best(|| {
            black_box(find_aadhaar(message));
        })
    );
    Ok(())
}

/// Different words, so that a thousand contacts are a thousand names.
fn syllables(mut at: usize) -> String {
    let mut out = String::new();
    for _ in 0..3 {
        out.push_str(["ra", "ki", "mo", "tu", "le", "sha", "ji", "po", "nu", "ve"][at % 10]);
        at /= 10;
    }
    out
}

/// The best of many rounds, in microseconds: on a busy machine a long one is always disturbed.
fn best(mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..200 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    best
}
