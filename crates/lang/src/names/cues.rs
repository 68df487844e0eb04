//! Names nobody listed, by what stands beside them: Mr, -bhai, "name is", a case before money, owes.
//!
//! Best effort, and made so that amounts, days, goods and everyday words are left alone.

use std::collections::HashMap;
use std::ops::Range;

use munshi_types::Script;

use super::endings::FAMILIES;
use super::hanging;
use super::spot::TRADES;
use crate::fold;
use crate::letters::{Lettered, Plain};
use crate::lexicon::{self, Meaning, Sense};
use crate::token::digit;

/// Before a name.
const TITLES: &[&str] = &[
    "mr",
    "mrs",
    "ms",
    "mis",
    "shri",
    "sri",
    "smt",
    "shrimati",
    "shreemati",
    "dr",
    "doktar",
    "doctor",
    "thiru",
    "tiru",
    "tirumati",
    "selvi",
    "sardar",
    "pandit",
    "ustad",
    "kumari",
    "chiranjivi",
    "shrimathi",
    "janab",
    "begum",
];

/// After a name.
const RESPECT: &[&str] = &[
    "ji", "bhai", "bhaiya", "bhaia", "bhau", "ben", "behen", "bahen", "saab", "sahab", "saheb", "sab",
    "garu", "gari", "anna", "ana", "akka", "aka", "uncle", "unkle", "ankal", "aunty", "anti", "didi", "dada",
    "chacha", "chachi", "kaka", "kaki", "tai", "babu", "chetan", "cheta", "chechi", "paji", "bhaji", "seth",
    "sir", "madam", "avaru", "avarige", "avru", "bai", "mausi", "mama", "mami", "nana", "ayya", "aya", "da",
    "di",
];

/// Written onto a name in Latin letters.
const JOINED: &[&str] = &[
    "bhai", "ben", "garu", "gariki", "amma", "anna", "akka", "bhau", "tai", "kaka", "saab", "sahab", "ji",
    "babu", "bhaiya",
];

/// "Name", as the fold leaves it.
const NAMED: &[&str] = &[
    "name", "nam", "naam", "peyar", "peir", "per", "peru", "hesaru", "hesar", "nav", "nau", "na", "nan",
    "peyaru",
];

/// Between "name" and the name.
const BETWEEN: &[&str] = &["is", "hai", "he", "ka", "s", "was", "che", "chhe", "aahe", "hota", "haigi"];

/// A case that people have, written apart.
const MARKS: &[&str] =
    &["ne", "ko", "nu", "nun", "ku", "ki", "la", "ge", "ke", "ka", "se", "da", "di", "de", "no", "ni"];

/// Of those the ones that goods and places seldom have beside money.
const STRONG: &[&str] = &["ne", "ko", "nu", "nun", "se"];

/// English words before a name written large.
const BEFORE: &[&str] = &[
    "to", "from", "by", "for", "with", "paid", "pay", "give", "gave", "tell", "ask", "cal", "remind", "owe",
    "lent", "and", "send", "sent", "mesage", "about", "kal", "call", "message", "refund", "charge", "inform",
    "met", "told",
];

/// English words after a name written large.
const AFTER: &[&str] = &[
    "owes", "paid", "gave", "took", "returned", "owe", "bought", "caled", "called", "has", "will", "sent",
    "said", "is", "was", "wants", "ordered", "ordared", "came", "borowed", "borrowed", "needs", "asked",
    "says",
];

/// Things and places that take a case and name nobody, as the fold leaves them.
const THINGS: &[&str] = &[
    "bank",
    "ofis",
    "office",
    "company",
    "kampani",
    "suplier",
    "supplier",
    "customer",
    "kastamar",
    "market",
    "grahak",
    "munshi",
    "india",
    "bharat",
    "gst",
    "upi",
    "atm",
    "paytm",
    "phonepe",
    "google",
    "gpay",
    "whatsapp",
    "sms",
    "delivery",
    "delivari",
    "order",
    "payment",
    "pement",
    "invoice",
    "invois",
    "monday",
    "diwali",
    "holi",
    "staf",
    "staff",
    "driver",
    "labour",
    "mazdur",
    "karigar",
    "naukar",
    "malik",
    "vendor",
    "landlord",
    "transport",
    "petrol",
    "diesel",
    "school",
    "skul",
    "hospital",
    "hotel",
    "thanks",
    "please",
    "hello",
    "rent",
    "loan",
    "lon",
    "emi",
    "tax",
    "sarkar",
    "polis",
    "bijli",
    "recharge",
    "richarj",
    "mobile",
    "chai",
    "tea",
    "milk",
    "dudh",
    "aj",
    "kal",
];

/// A word of the text as the cues see it.
#[derive(Clone, Copy)]
struct Seen {
    senses: &'static [Sense],
    cue: Cue,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cue {
    None,
    Title,
    Respect,
    Named,
    Thing,
    Family,
}

struct Reading<'t> {
    text: &'t str,
    words: &'t [Lettered],
    keys: Vec<String>,
    seen: Vec<Seen>,
    /// For each word whether its sentence speaks of money.
    money: Vec<bool>,
}

/// The names in a text that something beside them gives away, without their endings.
pub fn strangers(text: &str, words: &[Lettered]) -> Vec<Range<usize>> {
    let reading = Reading::new(text, words);
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in 0..words.len() {
        if let Some(range) = reading.name_at(at)
            && found.last().is_none_or(|last| last.end <= range.start)
        {
            found.push(range);
        }
    }
    found
}

impl<'t> Reading<'t> {
    fn new(text: &'t str, words: &'t [Lettered]) -> Self {
        let mut known: HashMap<&str, (String, Seen)> = HashMap::new();
        let (mut keys, mut seen) = (Vec::with_capacity(words.len()), Vec::with_capacity(words.len()));
        for word in words {
            let said = text.get(word.range.clone()).unwrap_or_default();
            let (key, one) = known.entry(said).or_insert_with(|| {
                let key = fold::key(&Plain::new(said).text);
                let one = Seen { senses: lexicon::senses(&key), cue: cue(&key) };
                (key, one)
            });
            keys.push(key.clone());
            seen.push(*one);
        }
        let mut reading = Self { text, words, keys, seen, money: vec![false; words.len()] };
        reading.find_money();
        reading
    }

    /// Marks the words of every sentence in which a digit, a number or money is named.
    fn find_money(&mut self) {
        let mut from = 0;
        while from < self.words.len() {
            let mut to = from + 1;
            while to < self.words.len() && !self.parted(to) {
                to += 1;
            }
            let speaks = |meaning: Meaning| {
                matches!(
                    meaning,
                    Meaning::Money
                        | Meaning::Rupee
                        | Meaning::Cardinal(_)
                        | Meaning::Scale(_)
                        | Meaning::Part(_)
                )
            };
            let word =
                self.seen[from..to].iter().flat_map(|seen| seen.senses).any(|sense| speaks(sense.meaning));
            let start = self.words[from].range.start;
            let start = from.checked_sub(1).map_or(0, |before| self.words[before].range.end).min(start);
            let end = self.words.get(to).map_or(self.text.len(), |next| next.range.start);
            let figure =
                self.text.get(start..end).unwrap_or_default().chars().any(|letter| digit(letter).is_some());
            self.money[from..to].fill(word || figure);
            from = to;
        }
    }

    /// What lies between a word and the one before it.
    fn gap(&self, at: usize) -> &'t str {
        let before = at.checked_sub(1).and_then(|at| self.words.get(at)).map_or(0, |word| word.range.end);
        self.words.get(at).and_then(|word| self.text.get(before..word.range.start)).unwrap_or_default()
    }

    /// Whether a sentence begins at a word.
    fn parted(&self, at: usize) -> bool {
        at == 0 || self.gap(at).contains(['\n', '।', '!', '?', ';']) || self.gap(at).contains(". ")
    }

    fn joined(&self, at: usize) -> bool {
        at < self.words.len() && self.gap(at).chars().all(|letter| letter.is_whitespace() || letter == '.')
    }

    fn said(&self, at: usize) -> &'t str {
        self.words.get(at).and_then(|word| self.text.get(word.range.clone())).unwrap_or_default()
    }

    fn key(&self, at: usize) -> &str {
        self.keys.get(at).map_or("", String::as_str)
    }

    fn is(&self, at: Option<usize>, list: &[&str]) -> bool {
        at.is_some_and(|at| at < self.words.len() && list.contains(&self.key(at)))
    }

    /// Whether a word means nothing else that is known.
    fn is_free(&self, at: usize) -> bool {
        let Some(seen) = self.seen.get(at) else { return false };
        let family = seen.cue == Cue::Family;
        (seen.cue == Cue::None || family)
            && (seen.senses.is_empty() || family)
            && self.key(at).len() > 2
            && self.words.get(at).is_some_and(|word| word.script.is_some())
    }

    fn is_large(&self, at: usize) -> bool {
        let mut letters = self.said(at).chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
    }

    fn name_at(&self, at: usize) -> Option<Range<usize>> {
        let whole = self.words.get(at)?.range.clone();
        if !self.is_free(at) {
            return None;
        }
        if let Some(front) = self.under_respect(at) {
            return Some(whole.start..whole.start + front);
        }
        if self.by_title(at) || self.by_neighbours(at) || self.by_family(at) {
            return Some(whole);
        }
        if self.by_mark(at) || self.by_english(at) {
            return Some(whole);
        }
        self.under_case(at).map(|front| whole.start..whole.start + front)
    }

    /// Mr X, name is X.
    fn by_title(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).filter(|_| self.joined(at) || self.gap(at).trim() == ":") else {
            return false;
        };
        let cue = |at: usize| self.seen.get(at).map_or(Cue::None, |seen| seen.cue);
        if cue(before) == Cue::Title {
            return true;
        }
        let between = BETWEEN.contains(&self.key(before));
        cue(before) == Cue::Named
            || (between && before.checked_sub(1).is_some_and(|at| cue(at) == Cue::Named))
    }

    /// X ji, X bhai.
    fn by_neighbours(&self, at: usize) -> bool {
        let after = self.seen.get(at + 1).is_some_and(|seen| seen.cue == Cue::Respect);
        after && self.joined(at + 1) && !self.gap(at + 1).is_empty()
    }

    /// X Sharma, and Sharma beside money or written large.
    fn by_family(&self, at: usize) -> bool {
        let family = |at: usize| self.seen.get(at).is_some_and(|seen| seen.cue == Cue::Family);
        if family(at) {
            return self.is_large(at) || self.money.get(at).copied().unwrap_or_default();
        }
        family(at + 1) && self.joined(at + 1)
    }

    /// X ne 500 diye, X ka hisab.
    fn by_mark(&self, at: usize) -> bool {
        if !self.money.get(at).copied().unwrap_or_default() || !self.joined(at + 1) {
            return false;
        }
        let strong = self.is(Some(at + 1), STRONG);
        let weak = self.is(Some(at + 1), MARKS) && (self.is_large(at) || self.parted(at));
        // Five kilos of X ka: what was counted is no person.
        let counted = at.checked_sub(1).is_some_and(|before| {
            self.seen
                .get(before)
                .is_some_and(|seen| seen.senses.iter().any(|sense| matches!(sense.meaning, Meaning::Unit(_))))
        });
        (strong || weak) && !counted
    }

    /// Paid X, to X, X owes; only where it is written large.
    fn by_english(&self, at: usize) -> bool {
        if !self.is_large(at) || self.words.get(at).is_none_or(|word| word.script != Some(Script::Latin)) {
            return false;
        }
        let before = at.checked_sub(1).filter(|_| !self.parted(at));
        let owned = self.is(Some(at + 1), &["s"])
            && self.text.get(self.words[at].range.end..).is_some_and(|rest| rest.starts_with(['\'', '’']));
        self.is(before, BEFORE) || (self.joined(at + 1) && self.is(Some(at + 1), AFTER)) || owned
    }

    /// Xbhai, Xji: where the name ends.
    fn under_respect(&self, at: usize) -> Option<usize> {
        let word = self.words.get(at)?;
        let said = self.said(at);
        let plain = Plain::new(said);
        let fits = |front: &str, ending: &str| {
            let key = fold::key(front);
            // Balaji and Shivaji are names, and hidden whole by others.
            let own = ending == "ji" && front.ends_with('a');
            front.chars().count() > 2 && !own && lexicon::senses(&key).is_empty() && cue(&key) == Cue::None
        };
        let list: &[&str] =
            if word.script == Some(Script::Latin) { JOINED } else { native_respect(word.script?) };
        list.iter().find_map(|ending| {
            let front = plain.text.strip_suffix(ending).filter(|front| fits(front, ending))?;
            Some(plain.origin(front.len(), said.len()))
        })
    }

    /// A case written onto a word beside money: where the name ends.
    fn under_case(&self, at: usize) -> Option<usize> {
        let word = self.words.get(at)?;
        if !self.money.get(at).copied().unwrap_or_default() {
            return None;
        }
        let said = self.said(at);
        let plain = Plain::new(said);
        let script = word.script?;
        let list = cases(script);
        let latin = script == Script::Latin;
        list.iter().find_map(|ending| {
            let front = plain.text.strip_suffix(ending)?;
            let key = fold::key(front);
            let long = if latin {
                front.len() > 2 && (self.is_large(at) || ending.len() > 2)
            } else {
                front.chars().count() > 1
            };
            let free = lexicon::senses(&key).is_empty() && cue(&key) == Cue::None;
            let fits = long && free && hanging::enough(script, front, ending);
            fits.then(|| plain.origin(front.len(), said.len()))
        })
    }
}

fn cue(key: &str) -> Cue {
    let among = |list: &[&str]| list.contains(&key);
    if among(TITLES) {
        Cue::Title
    } else if among(RESPECT) {
        Cue::Respect
    } else if among(NAMED) {
        Cue::Named
    } else if among(FAMILIES) && !TRADES.contains(&key) {
        Cue::Family
    } else if among(THINGS) || TRADES.contains(&key) || super::is_honorific(key) {
        Cue::Thing
    } else {
        Cue::None
    }
}

/// Words of respect as scripts write them onto a name.
const fn native_respect(script: Script) -> &'static [&'static str] {
    match script {
        Script::Devanagari => &["भाई", "बेन", "ताई", "भाऊ", "राव", "बाई", "साहब", "जी"],
        Script::Gujarati => {
            &["ભાઈને", "ભાઈએ", "ભાઈનો", "ભાઈના", "ભાઈની", "ભાઈ", "બેનને", "બેને", "બેન", "બહેન", "જી"]
        }
        Script::Telugu => &["గారికి", "గారు", "గారి"],
        Script::Kannada => &["ಅವರಿಗೆ", "ಅವರು", "ಅಣ್ಣ", "ಅಕ್ಕ"],
        Script::Tamil => &["அண்ணா", "அக்கா", "அம்மா"],
        Script::Bengali => &["দা", "দি", "বাবু", "ভাই"],
        Script::Odia => &["ଭାଇ", "ବାବୁ"],
        Script::Malayalam => &["ചേട്ടൻ", "ചേച്ചി"],
        Script::Gurmukhi | Script::Latin => &[],
    }
}

/// The cases of giver and receiver, as each script writes them onto a name.
const fn cases(script: Script) -> &'static [&'static str] {
    match script {
        Script::Latin => &[
            "ukku", "kku", "anige", "nige", "ige", "inte", "gariki", "ku", "ki", "ge", "ko", "la", "ne",
            "ke", "nu",
        ],
        Script::Devanagari => &["ला", "ने", "कडून", "कडे", "को"],
        Script::Bengali => &["কে", "ের"],
        Script::Gujarati => &["ને", "એ"],
        Script::Gurmukhi => &["ਨੂੰ", "ਨੇ"],
        Script::Odia => &["ଙ୍କୁ", "ଙ୍କ", "କୁ"],
        Script::Tamil => &["ுக்கு", "வுக்கு", "க்கு", "ிடம்", "யிடம்"],
        Script::Telugu => &["కి", "కు"],
        Script::Kannada => &["ನಿಗೆ", "ಿಗೆ", "ಗೆ", "ವಿಗೆ"],
        Script::Malayalam => &["ിന്", "ക്ക്", "യ്ക്ക്", "ന്", "വിന്"],
    }
}
