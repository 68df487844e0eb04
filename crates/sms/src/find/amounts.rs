//! Amounts with a currency in every spelling, and bare figures where only an amount can stand.

use std::ops::Range;

use munshi_types::Money;

use crate::lexicon::SmsWordClass;
use crate::parsed_message::{AmountRole, ParsedSms, SmsAmount, SmsTokenUse};
use crate::reading::Currency;
use crate::tokens::SmsTokenKind;

const RUPEES: [&str; 40] = [
    "rs",
    "inr",
    "re",
    "rupees",
    "rupee",
    "rupaye",
    "rupaya",
    "rps",
    "रु",
    "रू",
    "रुपये",
    "रुपए",
    "रुपया",
    "रुपयांची",
    "रुपयांचे",
    "रुपयाची",
    "रुपयांनी",
    "र",
    "ரூ",
    "ரூபாய்",
    "రూ",
    "రూపాయలు",
    "రూపాయల",
    "టాకా",
    "টাকা",
    "টাকার",
    "রু",
    "રૂ",
    "રૂપિયા",
    "રુ",
    "ರೂ",
    "ರೂಪಾಯಿ",
    "രൂ",
    "രൂപ",
    "ਰੁ",
    "ਰੁਪਏ",
    "ରୁ",
    "ଟଙ୍କା",
    "টা",
    "র",
];
const FOREIGN: [&str; 37] = [
    "usd", "eur", "gbp", "aed", "sgd", "aud", "cad", "jpy", "thb", "chf", "cny", "hkd", "myr", "nzd", "sar",
    "qar", "omr", "kwd", "bhd", "lkr", "npr", "bdt", "idr", "krw", "zar", "sek", "nok", "dkk", "rub", "try",
    "vnd", "php", "mvr", "btn", "mur", "kes", "egp",
];

pub(crate) fn amounts(page: &mut ParsedSms) {
    let mut at = 0;
    while at < page.len() {
        match amount(page, at) {
            Some(amount) => {
                at = amount.tokens.end;
                page.assign_use(amount.tokens.clone(), SmsTokenUse::Amount);
                page.amounts.push(amount);
            }
            None => at += 1,
        }
    }
}

fn currency(page: &ParsedSms, at: usize) -> Option<Currency> {
    if !page.is_free(at) {
        return None;
    }
    match page.cut.shape(at)? {
        SmsTokenKind::Sign('₹' | '৳') => Some(Currency::INR),
        SmsTokenKind::Sign('$') => Some(Currency::new(*b"USD")),
        SmsTokenKind::Sign('€') => Some(Currency::new(*b"EUR")),
        SmsTokenKind::Sign('£') => Some(Currency::new(*b"GBP")),
        SmsTokenKind::Word => {
            let word = page.cut.lowercase(at);
            if RUPEES.contains(&word) {
                return Some(Currency::INR);
            }
            // "try" and "php" are words too, unless written as a currency is.
            let known =
                FOREIGN.contains(&word) && (!matches!(word, "try" | "php") || page.cut.is_number(at + 1));
            let code: [u8; 3] = word.as_bytes().to_ascii_uppercase().try_into().ok()?;
            known.then(|| Currency::new(code))
        }
        _ => None,
    }
}

/// The currency before the figure, or behind it.
fn amount(page: &ParsedSms, at: usize) -> Option<SmsAmount> {
    if let Some(currency) = currency(page, at) {
        let figure = find_figure_after(page, at + 1)?;
        let negative = page.cut.is_sign(figure - 1, '-') && page.cut.is_glued(figure) && figure - at == 2;
        return build_amount(page, at..figure + 1, figure, currency, negative);
    }
    if !page.is_free(at) || !page.cut.is_number(at) {
        return None;
    }
    if page.cut.is_sign(at + 1, '/') && page.cut.is_sign(at + 2, '-') && page.cut.is_glued(at + 1) {
        return build_amount(page, at..at + 3, at, Currency::INR, false);
    }
    let end = join_figure(page, at).0;
    let currency = currency(page, end)?;
    let of_the_next = find_figure_after(page, end + 1).is_some();
    if of_the_next { None } else { build_amount(page, at..end + 1, at, currency, false) }
}

fn find_figure_after(page: &ParsedSms, from: usize) -> Option<usize> {
    let sign = |at: usize| {
        matches!(page.cut.shape(at), Some(SmsTokenKind::Sign('.' | ':' | '-' | '=' | '~' | '₹' | '/')))
    };
    let mut at = from;
    while at < from + 3 && sign(at) {
        at += 1;
    }
    // "Rs INR 500" and "INR Rs.500" name it twice.
    (page.is_free(at) && page.cut.is_number(at)).then_some(at)
}

fn build_amount(
    page: &ParsedSms,
    tokens: Range<usize>,
    figure: usize,
    currency: Currency,
    negative: bool,
) -> Option<SmsAmount> {
    let (figure_end, text) = join_figure(page, figure);
    let mut money = parse_money(&text)?;
    let mut tokens = tokens.start..tokens.end.max(figure_end);
    let scale = scale(page, tokens.end);
    if scale > 1 {
        money = money.times(scale).ok()?;
        tokens.end += 1;
    }
    if page.cut.is_sign(tokens.end, '/') && page.cut.is_sign(tokens.end + 1, '-') {
        tokens.end += 2;
    }
    let money = if negative { money.negated().ok()? } else { money };
    Some(SmsAmount { tokens, money, currency, is_bare: false, is_round: scale > 1, role: AmountRole::Moved })
}

/// A figure written with blanks, `1 , 200 .00`: where it ends, and without them. Its groups are as they are in India, or it
/// is two figures.
fn join_figure(page: &ParsedSms, figure: usize) -> (usize, String) {
    let mut text = page.cut.lowercase(figure).to_owned();
    let mut end = figure + 1;
    let digits =
        |at: usize| if page.is_free(at) && page.cut.is_digits(at) { page.cut.lowercase(at) } else { "" };
    let group =
        |at: usize| if page.is_free(at) && page.cut.is_number(at) { page.cut.lowercase(at) } else { "" };
    // The last group is three digits, and may have the paise.
    let length = |at: usize| group(at).split_once('.').map_or(group(at).len(), |(whole, _)| whole.len());
    let groups: Vec<usize> = (0..4)
        .map(|step| figure + 2 + step * 2)
        .take_while(|at| page.cut.is_sign(at - 1, ',') && matches!(length(*at), 2 | 3))
        .collect();
    let last = groups.iter().position(|at| length(*at) == 3);
    if let Some(last) = last.filter(|_| page.cut.is_digits(figure) && text.len() <= 2) {
        groups[..=last].iter().for_each(|at| text.push_str(group(*at)));
        end = groups[last] + 1;
    }
    let apart = page.cut.is_sign(end, '.') && !page.cut.is_glued(end);
    if apart && digits(end + 1).len() == 2 && !text.contains('.') {
        text = format!("{text}.{}", digits(end + 1));
        end += 2;
    }
    (end, text)
}

fn scale(page: &ParsedSms, at: usize) -> i64 {
    match page.cut.lowercase(at) {
        "lakh" | "lakhs" | "lac" | "lacs" => 100_000,
        "l" if page.cut.is_glued(at) => 100_000,
        "crore" | "crores" => 10_000_000,
        "k" if page.cut.is_glued(at) => 1_000,
        _ => 1,
    }
}

/// Digits in any grouping, with paise or without. Three decimals are a rate, not an amount.
fn parse_money(text: &str) -> Option<Money> {
    let (whole, paise) = text.split_once('.').unwrap_or((text, ""));
    let whole: String = whole.chars().filter(|letter| *letter != ',').collect();
    let paise = if paise.len() > 2 { paise.trim_end_matches('0') } else { paise };
    if whole.len() > 12 || paise.len() > 2 || paise.contains([',', '.']) {
        return None;
    }
    let paise = if paise.is_empty() { "0" } else { paise };
    format!("{whole}.{paise}").parse().ok()
}

/// Figures without a currency: behind "debited by", "credited with", or a balance's name.
pub(crate) fn bare_amounts(page: &mut ParsedSms) {
    for at in 1..page.len() {
        if !page.is_free(at) || !page.cut.is_number(at) || page.cut.is_glued(at) && page.cut.is_word(at - 1) {
            continue;
        }
        let counted = page.is_class(at + 1, SmsWordClass::Points)
            || page.cut.is_sign(at + 1, '%')
            || page.cut.is_glued(at + 1)
                && page.cut.is_word(at + 1)
                && !matches!(page.cut.lowercase(at + 1), "cr" | "dr");
        if counted || page.cut.lowercase(at).len() > 12 || !stands_for_amount(page, at) {
            continue;
        }
        let Some(money) = parse_money(page.cut.lowercase(at)) else { continue };
        page.assign_use(at..at + 1, SmsTokenUse::Amount);
        let amount = SmsAmount {
            tokens: at..at + 1,
            money,
            currency: Currency::INR,
            is_bare: true,
            is_round: false,
            role: AmountRole::Moved,
        };
        page.amounts.push(amount);
    }
    page.amounts.sort_by_key(|amount| amount.tokens.start);
}

fn stands_for_amount(page: &ParsedSms, figure: usize) -> bool {
    let link = |at: usize| {
        matches!(
            page.class(at),
            Some(SmsWordClass::By | SmsWordClass::Towards | SmsWordClass::Ending | SmsWordClass::Of)
        ) || matches!(page.cut.shape(at), Some(SmsTokenKind::Sign(':' | '-' | '.' | '=')))
            || matches!(page.cut.lowercase(at), "is" | "rs")
    };
    let mut at = figure;
    while at > 0 && figure - at < 4 && link(at - 1) {
        at -= 1;
    }
    let before = at.checked_sub(1).and_then(|at| page.class(at));
    let points =
        (1..=4).filter_map(|back| at.checked_sub(back)).any(|at| page.is_class(at, SmsWordClass::Points));
    if points {
        return false;
    }
    let linked = at < figure;
    let amounts = (at..figure).any(|at| page.is_class(at, SmsWordClass::Of));
    match before {
        Some(SmsWordClass::Debited | SmsWordClass::Credited) => true,
        Some(SmsWordClass::Balance) => {
            let ended = figure + 1 == page.len() || page.sentence(figure + 1) != page.sentence(figure);
            let stopped = ended || page.cut.is_sign(figure + 1, '.');
            linked || page.cut.lowercase(figure).contains(['.', ',']) || stopped
        }
        Some(
            SmsWordClass::Paid
            | SmsWordClass::Sent
            | SmsWordClass::Received
            | SmsWordClass::Debit
            | SmsWordClass::Credit
            | SmsWordClass::Pay,
        ) => amounts,
        _ => amounts && page.cut.lowercase(figure).contains('.'),
    }
}
