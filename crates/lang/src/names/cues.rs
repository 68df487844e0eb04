//! Names nobody listed, by what stands beside them: Mr, -bhai, "name is", a case before money, owes.
//!
//! Best effort, and made so that amounts, days, goods and everyday words are left alone.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use munshi_types::Script;

use super::endings::FAMILIES;
use super::known_names::TRADES;
use super::script_endings;
use crate::fold;
use crate::lexicon::{self, Meaning, Sense};
use crate::text_words::{PlainWord, TextWords};
use crate::token::digit_value;

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
    "peyaru", "nama",
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
    "owes", "paid", "gave", "took", "returned", "owe", "bought", "caled", "called", "oves", "has", "will",
    "sent", "said", "is", "was", "wants", "ordered", "ordared", "came", "borowed", "borrowed", "needs",
    "asked", "says",
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

/// A different word of the text as the cues see it.
struct Seen {
    key: String,
    senses: &'static [Sense],
    cue: Cue,
    /// It says that its sentence speaks of money.
    money: bool,
    /// Where a name ends in it before a word of respect, and before a case.
    respect: Option<usize>,
    case: Option<usize>,
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
    words: &'t TextWords<'t>,
    seen: Vec<Seen>,
    /// For each word whether its sentence speaks of money.
    money: Vec<bool>,
}

/// The names in a text that something beside them gives away, without their endings.
pub fn find_unlisted_names(words: &TextWords<'_>) -> Vec<Range<usize>> {
    let reading = Reading::new(words);
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in 0..words.all.len() {
        if let Some(range) = reading.name_at(at)
            && found.last().is_none_or(|last| last.end <= range.start)
        {
            found.push(range);
        }
    }
    found
}

impl Seen {
    fn new(said: &str, script: Option<Script>) -> Self {
        let plain = PlainWord::new(said);
        let key = fold::key(&plain.text);
        let senses = lexicon::senses(&key);
        let cue = cue(&key);
        let free = matches!(cue, Cue::None | Cue::Family) && senses.is_empty() && key.len() > 2;
        let cut = |ends: fn(&PlainWord, &str, Script) -> Option<usize>| {
            script.filter(|_| free).and_then(|script| ends(&plain, said, script))
        };
        let money = senses.iter().any(|sense| speaks_of_money(sense.meaning));
        Self { respect: cut(find_respect_start), case: cut(find_case_start), key, senses, cue, money }
    }
}

fn speaks_of_money(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Money | Meaning::Rupee | Meaning::Cardinal(_) | Meaning::Scale(_) | Meaning::Part(_)
    )
}

impl<'t> Reading<'t> {
    fn new(words: &'t TextWords<'t>) -> Self {
        let seen = words.different.iter().map(|(said, script)| Seen::new(said, *script)).collect();
        let mut reading = Self { text: words.text, words, seen, money: vec![false; words.all.len()] };
        reading.mark_money_sentences();
        reading
    }

    fn seen(&self, at: usize) -> Option<&Seen> {
        self.seen.get(*self.words.which.get(at)?)
    }

    /// Marks the words of every sentence in which a digit, a number or money is named.
    fn mark_money_sentences(&mut self) {
        let mut from = 0;
        while from < self.words.all.len() {
            let mut to = from + 1;
            while to < self.words.all.len() && !self.starts_sentence(to) {
                to += 1;
            }
            let word = (from..to).any(|at| self.seen(at).is_some_and(|seen| seen.money));
            let figure =
                || (from..=to).any(|at| self.gap(at).chars().any(|letter| digit_value(letter).is_some()));
            let speaks = word || figure();
            self.money[from..to].fill(speaks);
            from = to;
        }
    }

    /// What lies between a word and the one before it.
    fn gap(&self, at: usize) -> &'t str {
        let before = at.checked_sub(1).and_then(|at| self.words.all.get(at)).map_or(0, |word| word.range.end);
        let end = self.words.all.get(at).map_or(self.text.len(), |word| word.range.start);
        self.text.get(before..end).unwrap_or_default()
    }

    /// Whether a sentence begins at a word.
    fn starts_sentence(&self, at: usize) -> bool {
        let gap = self.gap(at);
        at == 0 || (gap != " " && (gap.contains(['\n', '।', '!', '?', ';']) || gap.contains(". ")))
    }

    fn is_joined(&self, at: usize) -> bool {
        at < self.words.all.len()
            && self.gap(at).chars().all(|letter| letter.is_whitespace() || letter == '.')
    }

    fn key(&self, at: usize) -> &str {
        self.seen(at).map_or("", |seen| seen.key.as_str())
    }

    fn is_any_of(&self, at: Option<usize>, list: &[&str]) -> bool {
        at.is_some_and(|at| at < self.words.all.len() && list.contains(&self.key(at)))
    }

    /// Whether a word means nothing else that is known.
    fn is_free(&self, at: usize) -> bool {
        let Some(seen) = self.seen(at) else { return false };
        let family = seen.cue == Cue::Family;
        (family || (seen.cue == Cue::None && seen.senses.is_empty()))
            && self.key(at).len() > 2
            && self.words.all.get(at).is_some_and(|word| word.script.is_some())
    }

    fn is_capitalized(&self, at: usize) -> bool {
        let mut letters = self.words.word(at).chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
    }

    fn name_at(&self, at: usize) -> Option<Range<usize>> {
        let whole = self.words.all.get(at)?.range.clone();
        if !self.is_free(at) {
            return None;
        }
        let seen = self.seen(at)?;
        if let Some(front) = seen.respect {
            return Some(whole.start..whole.start + front);
        }
        if self.has_title_cue(at) || self.has_respect_cue(at) || self.has_family_cue(at) {
            return Some(whole);
        }
        if self.has_case_cue(at) || self.has_english_cue(at) {
            return Some(whole);
        }
        if seen.case.is_none() && self.has_position_cue(at) {
            return Some(whole);
        }
        let front = seen.case.filter(|_| self.money.get(at).copied().unwrap_or_default())?;
        Some(whole.start..whole.start + front)
    }

    /// Mr X, name is X.
    fn has_title_cue(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).filter(|_| self.is_joined(at) || self.gap(at).trim() == ":")
        else {
            return false;
        };
        let cue = |at: usize| self.seen(at).map_or(Cue::None, |seen| seen.cue);
        if cue(before) == Cue::Title {
            return true;
        }
        let between = BETWEEN.contains(&self.key(before));
        cue(before) == Cue::Named
            || (between && before.checked_sub(1).is_some_and(|at| cue(at) == Cue::Named))
    }

    /// X ji, X bhai.
    fn has_respect_cue(&self, at: usize) -> bool {
        let after = self.seen(at + 1).is_some_and(|seen| seen.cue == Cue::Respect);
        after && self.is_joined(at + 1) && !self.gap(at + 1).is_empty()
    }

    /// X Sharma, and Sharma beside money or written large.
    fn has_family_cue(&self, at: usize) -> bool {
        let family = |at: usize| self.seen(at).is_some_and(|seen| seen.cue == Cue::Family);
        if family(at) {
            return self.is_capitalized(at) || self.money.get(at).copied().unwrap_or_default();
        }
        family(at + 1) && self.is_joined(at + 1)
    }

    /// X ne 500 diye, X ka hisab.
    fn has_case_cue(&self, at: usize) -> bool {
        if !self.money.get(at).copied().unwrap_or_default() || !self.is_joined(at + 1) {
            return false;
        }
        let strong = self.is_any_of(Some(at + 1), STRONG);
        let weak =
            self.is_any_of(Some(at + 1), MARKS) && (self.is_capitalized(at) || self.starts_sentence(at));
        // Five kilos of X ka: what was counted is no person.
        let counted = at.checked_sub(1).is_some_and(|before| {
            self.seen
                .get(before)
                .is_some_and(|seen| seen.senses.iter().any(|sense| matches!(sense.meaning, Meaning::Unit(_))))
        });
        (strong || weak) && !counted
    }

    /// X 500 gave, X what owes: the first word of a sentence about giving and owing, where no measure makes goods of it.
    fn has_position_cue(&self, at: usize) -> bool {
        // First, since the rest looks at the whole sentence, which may be the whole text.
        if !self.starts_sentence(at) {
            return false;
        }
        let mut sentence = at + 1..at + 1;
        while sentence.end < self.words.all.len() && !self.starts_sentence(sentence.end) {
            sentence.end += 1;
        }
        let means = |wanted: fn(Meaning) -> bool| {
            sentence.clone().any(|at| {
                self.seen(at).is_some_and(|seen| seen.senses.iter().any(|sense| wanted(sense.meaning)))
            })
        };
        means(|meaning| meaning == Meaning::Money)
            && !means(|meaning| matches!(meaning, Meaning::Unit(_)))
            && !self.is_free(at + 1)
    }

    /// Paid X, to X, X owes; only where it is written large.
    fn has_english_cue(&self, at: usize) -> bool {
        if !self.is_capitalized(at)
            || self.words.all.get(at).is_none_or(|word| word.script != Some(Script::Latin))
        {
            return false;
        }
        let before = at.checked_sub(1).filter(|_| !self.starts_sentence(at));
        let owned = self.is_any_of(Some(at + 1), &["s"])
            && self
                .text
                .get(self.words.all[at].range.end..)
                .is_some_and(|rest| rest.starts_with(['\'', '’']));
        self.is_any_of(before, BEFORE)
            || (self.is_joined(at + 1) && self.is_any_of(Some(at + 1), AFTER))
            || owned
    }
}

/// Xbhai, Xji: where the name ends.
fn find_respect_start(plain: &PlainWord, said: &str, script: Script) -> Option<usize> {
    let list: &[&str] = if script == Script::Latin { JOINED } else { native_respect(script) };
    list.iter().find_map(|ending| {
        let front = plain.text.strip_suffix(ending).filter(|front| front.chars().count() > 2)?;
        // Balaji and Shivaji are names, and hidden whole by others.
        let own = *ending == "ji" && front.ends_with('a');
        (!own && is_unknown(front)).then(|| plain.original_offset(front.len(), said.len()))
    })
}

/// A case written onto a word: where the name ends.
fn find_case_start(plain: &PlainWord, said: &str, script: Script) -> Option<usize> {
    let large = said.starts_with(char::is_uppercase);
    cases(script).iter().find_map(|ending| {
        let front = plain.text.strip_suffix(ending)?;
        let long = match script {
            Script::Latin => front.len() > 2 && (large || ending.len() > 2),
            _ => front.chars().count() > 1,
        };
        let fits = long && script_endings::is_long_enough(script, front, ending) && is_unknown(front);
        fits.then(|| plain.original_offset(front.len(), said.len()))
    })
}

/// Whether a word means nothing that is known.
fn is_unknown(word: &str) -> bool {
    let key = fold::key(word);
    lexicon::senses(&key).is_empty() && cue(&key) == Cue::None
}

static CUES: LazyLock<HashMap<&'static str, Cue>> = LazyLock::new(|| {
    // Later lists give way to earlier ones.
    let lists = [
        (super::endings::HONORIFICS, Cue::Thing),
        (TRADES, Cue::Thing),
        (THINGS, Cue::Thing),
        (FAMILIES, Cue::Family),
        (NAMED, Cue::Named),
        (RESPECT, Cue::Respect),
        (TITLES, Cue::Title),
    ];
    let mut cues = HashMap::new();
    for (list, cue) in lists {
        cues.extend(list.iter().map(|key| (*key, cue)));
    }
    cues.insert("traders", Cue::Thing);
    cues
});

fn cue(key: &str) -> Cue {
    CUES.get(key).copied().unwrap_or(Cue::None)
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
            "ukku", "kku", "anige", "nige", "ige", "inte", "gariki", "kitta", "kita", "ku", "ki", "ge", "ko",
            "la", "ne", "ke", "nu",
        ],
        Script::Devanagari => &["ला", "ने", "कडून", "कडे", "को"],
        Script::Bengali => &["কে", "ের"],
        Script::Gujarati => &["ને", "એ"],
        Script::Gurmukhi => &["ਨੂੰ", "ਨੇ"],
        Script::Odia => &["ଙ୍କୁ", "ଙ୍କ", "କୁ"],
        Script::Tamil => &["ுக்கு", "வுக்கு", "க்கு", "ிடம்", "யிடம்", "கிட்ட"],
        Script::Telugu => &["కి", "కు"],
        Script::Kannada => &["ನಿಗೆ", "ಿಗೆ", "ಗೆ", "ವಿಗೆ"],
        Script::Malayalam => &["ിന്", "ക്ക്", "യ്ക്ക്", "ന്", "വിന്"],
    }
}
