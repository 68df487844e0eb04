//! What the words of a message do in it: `lexicon/sms.txt`, read once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use munshi_types::word_classes;
use munshi_types::word_list::read_entries;

use super::tokens::{SmsTokenKind, TokenizedSms, clean};

word_classes! { pub(crate) enum SmsWordClass {
    /// Money left an account; said of a thing done.
    Debited = "debited",
    Paid = "paid",
    Sent = "sent",
    Transferred = "transferred",
    Credited = "credited",
    Received = "received",
    Refunded = "refunded",
    /// Nouns: money goes, may go either way, comes.
    Debit = "debit",
    Pay = "pay",
    Credit = "credit",
    Refund = "refund",
    /// To a wallet.
    Added = "added",
    Success = "success",
    Cashback = "cashback",
    Future = "future",
    Negation = "negation",
    Condition = "condition",
    Failed = "failed",
    Pending = "pending",
    Otp = "otp",
    /// "Never share": what is spoken of is not given.
    Share = "share",
    Request = "request",
    /// Words like a request that are none.
    Asked = "asked",
    Mandate = "mandate",
    /// What is done to a mandate without money moving.
    Arranged = "arranged",
    Due = "due",
    Balance = "balance",
    Limit = "limit",
    Fee = "fee",
    /// "Up to", "above": the amount behind it is no payment.
    Threshold = "threshold",
    /// The figure before it counts no money.
    Points = "points",
    /// A list of old payments.
    Listing = "listing",
    Hold = "hold",
    Loan = "loan",
    Delivery = "delivery",
    Warning = "warning",
    /// What only swindlers write.
    Swindle = "swindle",
    /// The secret that pays: asked for, it is never to receive money.
    Pin = "pin",
    Cheque = "cheque",
    Lure = "lure",
    Investment = "investment",
    Own = "own",
    /// "Aapko": to the owner.
    ToYou = "toyou",
    /// Somebody else's account.
    Other = "other",
    Account = "account",
    Card = "card",
    Wallet = "wallet",
    /// Between "account" and its number.
    Ending = "ending",
    Atm = "atm",
    Vpa = "vpa",
    To = "to",
    From = "from",
    By = "by",
    At = "at",
    Towards = "towards",
    Info = "info",
    On = "on",
    Of = "of",
    Reference = "reference",
    Channel = "channel",
    After = "after",
    /// Ends a name.
    Stop = "stop",
} }

impl SmsWordClass {
    /// A participle: something was done to money.
    pub(crate) const fn is_act(self) -> bool {
        matches!(
            self,
            Self::Debited
                | Self::Paid
                | Self::Sent
                | Self::Transferred
                | Self::Credited
                | Self::Received
                | Self::Refunded
                | Self::Added
        )
    }

    /// A noun that may tell of a payment.
    pub(crate) const fn is_noun(self) -> bool {
        matches!(self, Self::Debit | Self::Pay | Self::Credit | Self::Refund | Self::Cashback)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SmsWordMatch {
    pub(crate) class: SmsWordClass,
    pub(crate) tokens: Range<usize>,
}

struct Lexicon {
    /// By the first word; longer phrases first.
    phrases: HashMap<String, Vec<(Vec<String>, SmsWordClass)>>,
    roots: HashMap<String, SmsWordClass>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(include_str!("../lexicon/sms.txt")));

impl Lexicon {
    fn read(text: &str) -> Self {
        let mut lexicon = Self { phrases: HashMap::new(), roots: HashMap::new() };
        for (name, phrases) in read_entries(text, ":") {
            let Some(class) = SmsWordClass::parse(name) else { continue };
            phrases.split(',').map(str::trim).for_each(|phrase| lexicon.add(phrase, class));
        }
        for list in lexicon.phrases.values_mut() {
            list.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
        }
        lexicon
    }

    fn add(&mut self, phrase: &str, class: SmsWordClass) {
        let phrase = clean(phrase);
        if let Some(root) = phrase.strip_suffix('~') {
            self.roots.insert(root.to_owned(), class);
            return;
        }
        // Signs inside a phrase are stepped over in messages, so they are left out here too.
        let cut = TokenizedSms::new(&phrase);
        let mut words =
            (0..cut.len()).filter(|at| !is_stepped_over(&cut, *at)).map(|at| cut.lowercase(at).to_owned());
        if let Some(first) = words.next() {
            self.phrases.entry(first).or_default().push((words.collect(), class));
        }
    }

    fn match_at(&self, cut: &TokenizedSms, at: usize) -> Option<SmsWordMatch> {
        if !cut.is_word(at) {
            return None;
        }
        let word = cut.lowercase(at);
        if let Some(list) = self.phrases.get(word) {
            let found = list.iter().find_map(|(rest, class)| Some((match_rest(cut, at + 1, rest)?, *class)));
            if let Some((end, class)) = found {
                return Some(SmsWordMatch { class, tokens: at..end });
            }
        }
        self.root(word).map(|class| SmsWordMatch { class, tokens: at..at + 1 })
    }

    /// Only words that are not in Latin letters have roots.
    fn root(&self, word: &str) -> Option<SmsWordClass> {
        if word.is_ascii() {
            return None;
        }
        word.char_indices()
            .rev()
            .find_map(|(at, letter)| self.roots.get(&word[..at + letter.len_utf8()]).copied())
    }
}

fn is_stepped_over(cut: &TokenizedSms, at: usize) -> bool {
    matches!(cut.shape(at), Some(SmsTokenKind::Sign('.' | '-' | '/' | '\'' | '&')))
}

/// Where a phrase ends whose other words are these.
fn match_rest(cut: &TokenizedSms, mut at: usize, rest: &[String]) -> Option<usize> {
    for word in rest {
        while is_stepped_over(cut, at) {
            at += 1;
        }
        if cut.lowercase(at) != word {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// What each word does; no word does two things, and the longest phrase has it.
pub(crate) fn marks(cut: &TokenizedSms) -> Vec<SmsWordMatch> {
    let mut marks = Vec::new();
    let mut at = 0;
    while at < cut.len() {
        match LEXICON.match_at(cut, at) {
            Some(mark) => {
                at = mark.tokens.end;
                marks.push(mark);
            }
            None => at += 1,
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::word_list::read_lines;

    #[test]
    fn every_line_names_a_class_and_no_phrase_has_two() {
        let mut seen = HashMap::new();
        for line in read_lines(include_str!("../lexicon/sms.txt")) {
            let (name, phrases) = line.text.split_once(':').unwrap();
            assert!(SmsWordClass::parse(name).is_some(), "{name}");
            for phrase in phrases.split(',').map(str::trim) {
                assert!(!phrase.is_empty(), "an empty phrase in {name}");
                assert_eq!(seen.insert(clean(phrase), name), None, "{phrase}");
            }
        }
    }

    #[test]
    fn the_longest_phrase_and_the_longest_root_win() {
        let found = |text: &str| {
            marks(&TokenizedSms::new(text)).into_iter().map(|mark| mark.class).collect::<Vec<_>>()
        };
        assert_eq!(
            found("Avl. Bal in A/c"),
            [SmsWordClass::Balance, SmsWordClass::Ending, SmsWordClass::Account]
        );
        assert_eq!(found("खाते से निकाले"), [SmsWordClass::Account, SmsWordClass::Debited]);
    }
}
