//! How long a typical message takes, against a thousand contacts.
//!
//! `cargo run --release -p munshi-lang --example speed`

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::hint::black_box;
use std::time::Instant;

use munshi_lang::{ContactDirectory, Phrasebook, UnderstandingContext, detect, search_tokens, understand};

const MESSAGES: &[&str] = &[
    "Ramesh ne dhai hazaar diye",
    "कल सुरेश को साढ़े तीन सौ का सामान उधार दिया",
    "Gupta supplier ku anjaayiram rubai kuduthen, naalaiku balance tharen",
    "రాజన్ కి ఐదు వందలు అప్పు",
    "രമേശ് ഇന്നലെ ആയിരത്തി ഇരുനൂറ് രൂപ തിരിച്ചു തന്നു",
    "aaj 5 kilo chini 250 rupaye mein bechi, Mahesh bhai ka 1,50,000 baki hai, 15 tareekh ko dega",
    "paid Lakshmi Traders 2.5 lakh by UPI ref 423456789012 on 15-08-2026, call 98765 43210",
    "ok",
];

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

fn main() -> anyhow::Result<()> {
    let names: Vec<String> = FIRST
        .iter()
        .flat_map(|first| LAST.iter().map(move |last| format!("{first} {last}")))
        .take(1_000)
        .collect();
    // The very first call, with nothing warm: what a start costs.
    let start = Instant::now();
    black_box(understand("Ramesh ne dhai hazaar diye", &UnderstandingContext::default()));
    println!("first message, cold: {} us", start.elapsed().as_micros());
    let start = Instant::now();
    let contacts = ContactDirectory::new(&names);
    println!("directory of {} contacts: {} us", names.len(), start.elapsed().as_micros());
    let start = Instant::now();
    black_box(Phrasebook::core()?);
    println!("phrasebook: {} us", start.elapsed().as_micros());

    let context = UnderstandingContext {
        contacts: Some(&contacts),
        today: Some("2026-11-15".parse()?),
        ..UnderstandingContext::default()
    };
    println!("\n{:>10} {:>10} {:>10}  message", "all", "detect", "tokens");
    for message in MESSAGES {
        let all = time(|| drop(black_box(understand(black_box(message), &context))));
        let language = time(|| drop(black_box(detect(black_box(message)))));
        let tokens = time(|| drop(black_box(search_tokens(black_box(message)))));
        println!("{all:>7.1} us {language:>7.1} us {tokens:>7.1} us  {message}");
    }
    Ok(())
}

/// The best of many short rounds, in microseconds a call: on a busy machine a long one is always disturbed.
fn time(work: impl Fn()) -> f64 {
    const CALLS: u32 = 50;
    let mut best = f64::MAX;
    for _ in 0..200 {
        let start = Instant::now();
        for _ in 0..CALLS {
            work();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
    }
    best
}
