//! Bare numbers that count things: 6 soaps for 210.

use munshi_lang::{Number, NumberKind};
use munshi_types::Language;

use crate::reading::{OfflineReading, WordOwner};
use crate::small_words::{SmallWordClass, SmallWordClassSet};

/// Nobody sells more pieces at once over a counter.
const MOST: u64 = 1000;

/// Takes a bare number right before a thing for a count of it, where the only other number is its price. `is_cue` says
/// of a word whether it says what is wanted, and so names nothing.
pub(crate) fn mark_counts(reading: &mut OfflineReading<'_>, is_cue: impl Fn(usize) -> bool) {
    let money: Vec<usize> = (0..reading.numbers.len()).filter(|at| is_money_or_plain(reading, *at)).collect();
    let [one, other] = money.as_slice() else { return };
    if reading.numbers.iter().any(|number| number.kind == NumberKind::Quantity) {
        return;
    }
    for (count, price) in [(*one, *other), (*other, *one)] {
        if is_count(reading, count, &is_cue) && is_price(reading, price) {
            if let Some(number) = reading.numbers.get_mut(count) {
                number.kind = NumberKind::Quantity;
            }
            return;
        }
    }
}

fn is_money_or_plain(reading: &OfflineReading<'_>, at: usize) -> bool {
    reading.numbers.get(at).is_some_and(|number| matches!(number.kind, NumberKind::Money | NumberKind::Plain))
}

/// The places of the words that hold a number: the first, and the one after the last.
fn find_words(reading: &OfflineReading<'_>, number: usize) -> Option<(usize, usize)> {
    let holds =
        |at: &usize| reading.words.get(*at).is_some_and(|word| word.held == Some(WordOwner::Number(number)));
    let first = (0..reading.words.len()).find(|at| holds(at))?;
    Some((first, (first..reading.words.len()).take_while(holds).last()? + 1))
}

fn is_count(reading: &OfflineReading<'_>, number: usize, is_cue: &impl Fn(usize) -> bool) -> bool {
    const NEVER: SmallWordClassSet = SmallWordClassSet::of(&[
        SmallWordClass::Question,
        SmallWordClass::Not,
        SmallWordClass::If,
        SmallWordClass::Doubt,
        SmallWordClass::Yes,
        SmallWordClass::No,
        SmallWordClass::And,
    ]);
    let Some((_, after)) = find_words(reading, number) else { return false };
    let is_small = reading.numbers.get(number).is_some_and(|number| {
        let whole = |value: &Number| value.as_whole().is_some_and(|whole| (1..=MOST).contains(&whole));
        number.kind == NumberKind::Plain && number.unit.is_none() && number.readings.iter().all(whole)
    });
    let names =
        reading.words.get(after).is_some_and(|word| word.is_content() && !word.classes.intersects(NEVER));
    is_small && names && !is_cue(after)
}

/// Rupees, or a number with a marker beside it that things are sold for: 210 mein, for 210.
fn is_price(reading: &OfflineReading<'_>, number: usize) -> bool {
    const BEHIND: SmallWordClassSet =
        SmallWordClassSet::of(&[SmallWordClass::In, SmallWordClass::To, SmallWordClass::Of]);
    let Some((first, after)) = find_words(reading, number) else { return false };
    let is_english = reading.languages.first() == Some(&Language::English);
    let before = first.checked_sub(1).and_then(|at| reading.words.get(at));
    let led = is_english
        && before.is_some_and(|word| {
            matches!(word.key.as_str(), "for" | "at") || word.text.eq_ignore_ascii_case("worth")
        });
    let marked = !is_english && reading.words.get(after).is_some_and(|word| word.classes.intersects(BEHIND));
    let bent = reading.words.get(after - 1).is_some_and(|word| {
        !word.text.is_ascii() && crate::name_roles::strip_case(word, &reading.languages).is_some()
    });
    let is_money = reading.numbers.get(number).is_some_and(|number| number.kind == NumberKind::Money);
    is_money || led || marked || bent
}
