//! How long all shipped rules take over a reply of 300 words, in English, Hindi, Tamil, Bengali and Hinglish.
//!
//! `cargo run --release -p munshi-guardrails --example guardrails [LANGUAGE]`

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::time::{Duration, Instant};

use munshi_guardrails::{AllowedLanguage, GuardrailContext, GuardrailRuleSet, PromptFingerprint};
use munshi_lang::ScriptForm;
use munshi_types::Language;

const WORDS: usize = 300;
const ROUNDS: usize = 2_000;

const REPLIES: [(&str, Language, &str); 5] = [
    (
        "english",
        Language::English,
        "Thank you for waiting. The jacket you liked comes in black, brown and a deep green. It is made of soft leather \
         and has two inner pockets. The brown one goes well with what you bought last month. Your order left our store \
         this morning and should reach you by Friday evening. If nobody is at home, the courier will call before coming.",
    ),
    (
        "hindi",
        Language::Hindi,
        "इंतज़ार के लिए धन्यवाद। जो जैकेट आपको पसंद आई वह काले, भूरे और गहरे हरे रंग में आती है। यह मुलायम चमड़े की बनी है और इसमें दो जेबें हैं। \
         भूरी वाली आपकी पिछली खरीद के साथ अच्छी लगेगी। आपका ऑर्डर आज सुबह निकल गया है और शुक्रवार शाम तक पहुँच जाना चाहिए।",
    ),
    (
        "tamil",
        Language::Tamil,
        "காத்திருந்ததற்கு நன்றி. நீங்கள் விரும்பிய ஜாக்கெட் கருப்பு, பழுப்பு மற்றும் அடர் பச்சை நிறங்களில் வருகிறது. இது மென்மையான தோலால் \
         ஆனது, உள்ளே இரண்டு பைகள் உள்ளன. உங்கள் ஆர்டர் இன்று காலை புறப்பட்டது, வெள்ளிக்கிழமை மாலைக்குள் வந்து சேரும்.",
    ),
    (
        "bengali",
        Language::Bengali,
        "অপেক্ষা করার জন্য ধন্যবাদ। আপনার পছন্দের জ্যাকেটটি কালো, বাদামি আর গাঢ় সবুজ রঙে আসে। এটি নরম চামড়ার তৈরি, ভেতরে দুটো পকেট আছে। \
         আপনার অর্ডার আজ সকালে বেরিয়েছে, শুক্রবার সন্ধ্যার মধ্যে পৌঁছে যাওয়ার কথা।",
    ),
    (
        "hinglish",
        Language::Hindi,
        "Wait karne ke liye thank you. Jo jacket aapko pasand aayi woh black, brown aur dark green mein aati hai. Yeh \
         soft leather ki bani hai aur andar do pocket hain. Aapka order aaj subah nikal gaya hai aur Friday shaam tak \
         pahunch jana chahiye. Agar ghar par koi nahi hua to courier wala aane se pehle call karega.",
    ),
];

fn main() {
    let set = GuardrailRuleSet::shipped();
    let prompt =
        "You are Meera, a concierge. Be warm and brief, and never promise what the catalogue does not hold. "
            .repeat(40);
    let prompt = std::sync::Arc::new(PromptFingerprint::new(&prompt, Vec::new()));
    let only = std::env::args().nth(1);
    for (name, language, text) in REPLIES {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let reply: Vec<&str> = text.split_whitespace().cycle().take(WORDS).collect();
        let reply = reply.join(" ");
        let form = if name == "hinglish" { Some(ScriptForm::Latin) } else { None };
        let lock = vec![
            AllowedLanguage { language, form },
            AllowedLanguage { language: Language::English, form: None },
        ];
        let context = GuardrailContext {
            lock,
            prompt: Some(std::sync::Arc::clone(&prompt)),
            persona: Some("Meera".to_owned()),
            turns_since_price: Some(1),
            ..GuardrailContext::default()
        };
        let found = set.check(&reply, &context).violations.len();
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| measure(&set, &reply, &context)).collect();
        times.sort_unstable();
        let at = |share: usize| times[(ROUNDS - 1) * share / 100].as_micros();
        println!("{name:<9} {WORDS} words: best {:>4} us, median {:>4} us, {found} found", at(0), at(50));
    }
}

fn measure(set: &GuardrailRuleSet, reply: &str, context: &GuardrailContext) -> Duration {
    let start = Instant::now();
    std::hint::black_box(set.check(std::hint::black_box(reply), context));
    start.elapsed()
}
