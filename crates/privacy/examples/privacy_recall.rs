//! How many names that nobody listed are hidden by what stands beside them, and how much else is.
//!
//! `cargo run -p munshi-privacy --example privacy_recall [utterances.jsonl]`: with a file of lines such as
//! `{"lang": "hi", "text": "…", "expected": {"person": "…"}}` those are measured, too.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::collections::BTreeMap;

use munshi_lang::fold;
use munshi_privacy::{KnownEntities, PiiMasker, PseudonymTable};
use munshi_types::{PersonId, Script, TenantId};

/// Names of each script; the first line is of Latin letters.
const NAMES: &[(&str, &[&str])] = &[
    (
        "latin",
        &[
            "Bhaskar",
            "Jignesh",
            "Parveen",
            "Thangavel",
            "Debashis",
            "Sukhdev",
            "Nagaraj",
            "Shabnam",
            "Pramila",
            "Hemant",
        ],
    ),
    ("hi", &["भास्कर", "जिग्नेश", "परवीन", "सुखदेव", "प्रमिला", "हेमंत", "शबनम"]),
    ("mr", &["भास्कर", "हेमंत", "प्रमिला", "जयवंत", "सुलभा"]),
    ("bn", &["দেবাশিস", "ভাস্কর", "শবনম", "তপন", "প্রমিলা"]),
    ("gu", &["જિજ્ઞેશ", "હેમંત", "ભાસ્કર", "પ્રમીલા"]),
    ("pa", &["ਸੁਖਦੇਵ", "ਜਸਬੀਰ", "ਪਰਮਜੀਤ", "ਹਰਭਜਨ"]),
    ("or", &["ଦେବାଶିଷ", "ଭାସ୍କର", "ପ୍ରମିଳା", "ହେମନ୍ତ"]),
    ("ta", &["தங்கவேல்", "பாஸ்கர்", "சுலோச்சனா", "பிரமிளா"]),
    ("te", &["నాగరాజు", "భాస్కర్", "ప్రమీల", "వెంకటేశ్వర్లు"]),
    ("kn", &["ನಾಗರಾಜ್", "ಭಾಸ್ಕರ್", "ಪ್ರಮೀಳಾ", "ಸಿದ್ದಪ್ಪ"]),
    ("ml", &["ഭാസ്കരൻ", "പ്രമീള", "ശബ്നം", "ഗോപാലൻ"]),
];

/// Sentences with a gap for a name.
const SENTENCES: &[(&str, &[&str])] = &[
    (
        "en",
        &[
            "Paid {} 500 yesterday",
            "{} owes me 1,200",
            "Got 300 from {} by UPI",
            "Please remind {} about the bill",
            "Mr {} called today",
            "My name is {}",
            "{}'s balance is 450",
            "Give 5 kg rice to {} on credit",
        ],
    ),
    (
        "hi-latn",
        &[
            "{} ko 500 diye",
            "{} ne 1200 wapas kiye",
            "{} bhai ka hisab batao",
            "{} ka baki kitna hai",
            "{}ji ko 200 dena hai",
            "mera naam {} hai",
            "{} se 300 mile",
        ],
    ),
    ("ta-latn", &["{}ukku 500 kuduthen", "{} anna 200 kuduthar", "{}kitta 300 vaanginen"]),
    ("te-latn", &["{} garu 500 ichcharu", "{}ki 200 ichchanu"]),
    ("kn-latn", &["{}ge 500 kotte", "{} avaru 200 kottaru"]),
    ("gu-latn", &["{}bhai ne 500 aapya", "{}ben pase 200 baki"]),
    (
        "hi",
        &[
            "{} को 500 दिए",
            "{} ने 1200 वापस किए",
            "{} जी का हिसाब बताओ",
            "मेरा नाम {} है",
            "श्री {} आए थे",
            "{} से 300 मिले",
        ],
    ),
    ("mr", &["{}ला 500 दिले", "{}ने 200 परत केले", "माझे नाव {} आहे", "{} भाऊ कडे 300 बाकी"]),
    ("bn", &["{}কে 500 টাকা দিলাম", "{} বাবু 200 টাকা দিলেন", "আমার নাম {}"]),
    ("gu", &["{}ને 500 આપ્યા", "{}ભાઈ પાસે 200 બાકી", "મારું નામ {} છે"]),
    ("pa", &["{} ਨੂੰ 500 ਦਿੱਤੇ", "{} ਨੇ 200 ਵਾਪਸ ਕੀਤੇ", "ਮੇਰਾ ਨਾਮ {} ਹੈ", "{} ਜੀ ਦਾ ਹਿਸਾਬ"]),
    ("or", &["{}ଙ୍କୁ 500 ଦେଲି", "{} ବାବୁ 200 ଦେଲେ", "ମୋ ନାମ {}"]),
    ("ta", &["{} அண்ணா 200 கொடுத்தார்", "என் பெயர் {}", "{}கிட்ட 300 வாங்கினேன்", "{}க்கு 500 கொடுத்தேன்"]),
    ("te", &["{}కి 500 ఇచ్చాను", "{} గారు 200 ఇచ్చారు", "నా పేరు {}"]),
    ("kn", &["{} ಅವರು 200 ಕೊಟ್ಟರು", "ನನ್ನ ಹೆಸರು {}", "{}ಗೆ 500 ಕೊಟ್ಟೆ"]),
    ("ml", &["{} ചേട്ടൻ 200 തന്നു", "എന്റെ പേര് {}", "{}ക്ക് 500 കൊടുത്തു"]),
];

/// Sentences that name nobody: nothing in them may be hidden.
const NOBODY: &[&str] = &[
    "aaj 5 kilo chini 250 rupaye mein bechi",
    "stock mein 40 kg chawal aur 15 litre tel hai",
    "GST 18% on 2,400 rupees",
    "rent of 12,000 is due on 5 June",
    "bijli ka bill 1,850 bhara",
    "kal 3 baje dukaan band thi",
    "What did I earn this week?",
    "Add 20 packets of biscuits to stock",
    "Send the report for last month",
    "आज 500 का दूध बेचा",
    "दुकान का किराया 8,000 दिया",
    "चावल 40 किलो आया",
    "இன்று 500 ரூபாய் பால் விற்றேன்",
    "அரிசி 25 கிலோ வந்தது",
    "ఈ నెల అమ్మకం ఎంత",
    "బియ్యం 25 కిలోలు వచ్చాయి",
    "ಇಂದು 500 ರೂಪಾಯಿ ವ್ಯಾಪಾರ",
    "ഇന്ന് 500 രൂപയുടെ പാൽ വിറ്റു",
    "আজ 500 টাকার চাল বিক্রি",
    "દુકાનનું ભાડું 8000 ભર્યું",
    "ਅੱਜ 500 ਦਾ ਦੁੱਧ ਵੇਚਿਆ",
    "ଆଜି 500 ଟଙ୍କାର ଚାଉଳ ବିକିଲି",
    "invoice 2291 worth 18,600 sent on 12/05/2026",
    "petrol ko 500 diye",
    "bank ne 200 kaate",
    "Paid 500 for petrol",
    "Amul butter 24 packets at 54",
    "Parle-G ka order 50 box",
];

/// So many names of so many, by language, and what was hidden besides.
#[derive(Default)]
struct Tally {
    names: usize,
    hidden: usize,
    besides: usize,
    words: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
}

impl Tally {
    fn take(&mut self, text: &str, name: Option<&str>) {
        let seen = mask(text);
        let key = name.map(fold::key).unwrap_or_default();
        let hidden = name
            .is_none_or(|name| !seen.contains(name) && !seen.to_lowercase().contains(&name.to_lowercase()));
        let named = name.map_or(0, |name| name.split_whitespace().count());
        let besides = seen.matches("XNM").count().saturating_sub(named);
        self.names += usize::from(name.is_some());
        self.hidden += usize::from(hidden && name.is_some());
        self.besides += besides;
        self.words += text.split_whitespace().count();
        if !hidden && !key.is_empty() {
            self.missed.push(text.to_owned());
        }
        if besides > 0 {
            self.wrong.push(format!("{text} -> {seen}"));
        }
    }

    fn print(&self, of: &str) {
        #[allow(clippy::cast_precision_loss, reason = "a few hundred")]
        let share = 100.0 * self.hidden as f64 / self.names.max(1) as f64;
        println!(
            "{of:>10}: {:>4} of {:>4} names hidden ({share:>5.1} %), {:>3} of {:>5} words hidden besides",
            self.hidden, self.names, self.besides, self.words
        );
    }
}

fn main() -> anyhow::Result<()> {
    let mut all = Tally::default();
    println!("names nobody listed, in our own sentences");
    for (language, sentences) in SENTENCES {
        let mut tally = Tally::default();
        let script = if *language == "en" || language.ends_with("-latn") { "latin" } else { language };
        for name in NAMES.iter().filter(|(of, _)| *of == script).flat_map(|(_, names)| *names) {
            for sentence in *sentences {
                let text = sentence.replace("{}", name);
                tally.take(&text, Some(name));
                all.take(&text, Some(name));
            }
        }
        tally.print(language);
        print_mistakes(&tally);
    }
    all.print("all");
    let mut nobody = Tally::default();
    NOBODY.iter().for_each(|text| nobody.take(text, None));
    println!("\nsentences that name nobody: {} of {} words hidden", nobody.besides, nobody.words);
    print_mistakes(&nobody);
    for path in std::env::args().skip(1) {
        println!("\n{path}");
        check_file(&std::fs::read_to_string(&path)?)?;
    }
    Ok(())
}

fn check_file(text: &str) -> anyhow::Result<()> {
    let mut by: BTreeMap<String, Tally> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: serde_json::Value = serde_json::from_str(line)?;
        let said = case["text"].as_str().unwrap_or_default();
        let name = case["expected"]["person"].as_str().filter(|name| said.contains(name));
        let language = case["lang"].as_str().unwrap_or("?").to_owned();
        for of in [language, "all".to_owned()] {
            by.entry(of).or_default().take(said, name);
        }
    }
    for (language, tally) in &by {
        tally.print(language);
    }
    Ok(())
}

fn print_mistakes(tally: &Tally) {
    tally.missed.iter().take(4).for_each(|text| println!("            missed: {text}"));
    tally.wrong.iter().take(4).for_each(|text| println!("            besides: {text}"));
}

/// A text as a cloud model sees it when nobody is known.
fn mask(text: &str) -> String {
    let tenant = TenantId::from_uuid(uuid::Uuid::from_u128(1));
    let known = KnownEntities::new(tenant, &[]);
    let mut session = PseudonymTable::new(tenant, PersonId::from_uuid(uuid::Uuid::from_u128(2)));
    let seen = PiiMasker::new(&known, &mut session).map(|mut mask| mask.mask_text(text)).unwrap_or_default();
    debug_assert!(session.restore(&seen, Script::Latin).unknown.is_empty());
    seen
}
