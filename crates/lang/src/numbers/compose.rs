//! Parts of a number put together: `do`, `lakh`, `pachas`, `hazaar` make 2,50,000.
//!
//! The grammar is the one all eleven languages share: groups below a thousand, each with its scale, scales
//! falling; a fraction before a group or right after it. What the grammar does not allow ends the number.

use super::NumberPart;
use crate::number::Number;

/// A number being put together. Copy, so that a reader can step back to where it was still whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberComposer {
    /// Groups that have met their scale.
    total: Number,
    /// The group now being said.
    group: Option<Group>,
    /// The last scale of a thousand or more.
    scale: Option<u64>,
    /// A fraction that waits for its number: saade.
    waiting: Option<Waiting>,
    /// A hundred or more was said.
    scaled: bool,
    /// The number may mean something else too.
    doubt: Option<NumberDoubt>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    value: Number,
    /// It already counts hundreds: two more digits may follow.
    hundreds: bool,
    /// It is a bare ten: a unit may follow where the language says tens and units apart.
    tens: bool,
    fraction: bool,
    /// Its hundreds were said, and more after them.
    said: bool,
}

#[derive(Clone, Copy, Debug)]
enum Waiting {
    Plus(u16),
    Minus(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberDoubt {
    /// `do lakh pachas`: fifty, or fifty thousand.
    ShortTail,
    /// `paanch sau do hazaar`: so many thousands, or five hundred and then two thousand.
    TwoNumbers(Number),
}

/// How the language of the word says tens and units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TensStyle {
    Apart,
    InOneWord,
}

const THOUSAND: u64 = 1_000;

impl NumberComposer {
    /// Takes the next part; false when it cannot belong to this number.
    pub(super) fn push(&mut self, part: NumberPart, tens: TensStyle) -> bool {
        self.scaled |= matches!(part, NumberPart::Scale(_) | NumberPart::Cardinal(100..));
        match part {
            NumberPart::Cardinal(value) => self.push_cardinal(value, tens),
            NumberPart::Digits(value) => self.push_digits(value),
            NumberPart::Scale(100) => self.push_hundred(),
            NumberPart::Scale(scale) => self.push_scale(scale, tens),
            NumberPart::Plus(hundredths) => self.push_waiting(Waiting::Plus(hundredths)),
            NumberPart::Minus(hundredths) => self.push_waiting(Waiting::Minus(hundredths)),
            NumberPart::Fraction(hundredths) => self.push_fraction(hundredths),
            NumberPart::Suffix(hundredths) => self.push_suffix(hundredths),
            NumberPart::Quarters => self.push_quarters(),
        }
        .is_some()
    }

    /// The number so far; none when it ends in the middle of something.
    pub(super) fn value(&self) -> Option<Number> {
        match (self.waiting, self.group) {
            (None, group) => self.total.checked_add(group.map_or(Number::ZERO, |group| group.value)),
            // Sava alone is one and a quarter; saade and paune need their number.
            (Some(Waiting::Plus(25)), None) if self.scale.is_none() => Some(Number::from_hundredths(125)),
            _ => None,
        }
    }

    /// What else the number may mean.
    pub(super) fn other_value(&self) -> Option<Number> {
        if let NumberDoubt::TwoNumbers(last) = self.doubt? {
            return Some(last);
        }
        let group = self.group?;
        group.value.checked_mul(self.scale? / 100).and_then(|tail| self.total.checked_add(tail))
    }

    pub(super) fn has_scale(&self) -> bool {
        self.scaled
    }

    /// Begins a group, with the fraction that waited for it; `implied` when only its scale is said.
    fn start(&mut self, value: Number, implied: bool) -> Option<Group> {
        let limit = self.scale.map(Number::from_whole);
        if limit.is_some_and(|limit| value >= limit) {
            return None;
        }
        if implied && matches!(self.waiting, Some(Waiting::Plus(50))) {
            // Nobody says saade without its number.
            return None;
        }
        // Saade adds half of what it counts, never half a rupee to hundreds.
        if self.waiting.is_some() && value >= Number::from_whole(100) {
            return None;
        }
        let (value, fraction) = match self.waiting.take() {
            None => (value, false),
            Some(Waiting::Plus(part)) => (value.checked_add(Number::from_hundredths(u32::from(part)))?, true),
            Some(Waiting::Minus(part)) => {
                (value.checked_sub(Number::from_hundredths(u32::from(part)))?, true)
            }
        };
        Some(Group { value, hundreds: false, tens: false, fraction, said: false })
    }

    fn push_cardinal(&mut self, value: u64, tens: TensStyle) -> Option<()> {
        let number = Number::from_whole(value);
        if let Some(group) = &mut self.group {
            let unit = tens == TensStyle::Apart && group.tens && (1..10).contains(&value);
            if group.fraction || !(unit || (group.hundreds && (1..100).contains(&value))) {
                return None;
            }
            group.value = group.value.checked_add(number)?;
            group.tens = !unit && value >= 20 && value.is_multiple_of(10);
            group.hundreds = false;
            return Some(());
        }
        if value >= 100 {
            // A word of its own for a round hundred, like shambhar.
            let mut group = self.start(number, false)?;
            group.hundreds = value.is_multiple_of(100);
            self.group = Some(group);
            return Some(());
        }
        let mut group = self.start(number, false)?;
        group.tens = value >= 20 && value.is_multiple_of(10) && !group.fraction;
        self.note_tail(value);
        self.group = Some(group);
        Some(())
    }

    /// Fifty after lakh may be fifty, or what is left of the next lakh.
    fn note_tail(&mut self, value: u64) {
        if value >= 10 && self.scale.is_some_and(|scale| scale > THOUSAND) {
            self.doubt = Some(NumberDoubt::ShortTail);
        }
    }

    fn push_digits(&mut self, value: Number) -> Option<()> {
        if let Some(group) = &mut self.group {
            if !group.hundreds || value >= Number::from_whole(100) || value.as_whole().is_none() {
                return None;
            }
            group.value = group.value.checked_add(value)?;
            group.hundreds = false;
            return Some(());
        }
        let mut group = self.start(value, false)?;
        if self.scale.is_some() {
            self.note_tail(value.as_whole()?);
        }
        group.fraction = value.as_whole().is_none();
        self.group = Some(group);
        Some(())
    }

    fn push_hundred(&mut self) -> Option<()> {
        let group = match self.group {
            Some(group) if group.hundreds || group.value >= Number::from_whole(100) => return None,
            Some(group) => group,
            None => self.start(Number::from_whole(1), true)?,
        };
        let value = group.value.checked_mul(100)?;
        if self.scale.is_some_and(|scale| value >= Number::from_whole(scale)) || value == Number::ZERO {
            return None;
        }
        let fraction = group.fraction;
        self.group = Some(Group { value, hundreds: !fraction, tens: false, fraction, said: true });
        self.doubt = None;
        Some(())
    }

    fn push_scale(&mut self, scale: u64, tens: TensStyle) -> Option<()> {
        let lower = self.scale.is_none_or(|last| scale < last);
        if !lower {
            return self.push_scale_over(scale);
        }
        let group = match self.group {
            Some(group) => group,
            None => self.start(Number::from_whole(1), true)?,
        };
        if group.value == Number::ZERO {
            return None;
        }
        self.total = self.total.checked_add(group.value.checked_mul(scale)?)?;
        self.group = None;
        self.scale = Some(scale);
        // English counts hundreds of thousands; India has its lakh.
        let rest = group.value.as_whole().filter(|value| *value > 100).map_or(0, |value| value % 100);
        let two = scale == THOUSAND && rest > 0 && group.said && tens == TensStyle::InOneWord;
        self.doubt = two.then(|| Number::from_whole(rest * scale)).map(NumberDoubt::TwoNumbers);
        Some(())
    }

    /// A thousand crore, a lakh crore: a scale over what was already scaled.
    fn push_scale_over(&mut self, scale: u64) -> Option<()> {
        if scale < 10_000_000 || self.scale == Some(scale) {
            return None;
        }
        self.total = self.value()?.checked_mul(scale)?;
        self.group = None;
        self.scale = Some(scale);
        self.doubt = None;
        Some(())
    }

    fn push_waiting(&mut self, waiting: Waiting) -> Option<()> {
        if self.group.is_some() || self.waiting.is_some() {
            return None;
        }
        self.waiting = Some(waiting);
        Some(())
    }

    fn push_fraction(&mut self, hundredths: u16) -> Option<()> {
        if self.group.is_some() || self.waiting.is_some() {
            return None;
        }
        let value = Number::from_hundredths(u32::from(hundredths));
        self.group = Some(Group { value, hundreds: false, tens: false, fraction: true, said: false });
        Some(())
    }

    fn push_quarters(&mut self) -> Option<()> {
        let group = self.group.as_mut().filter(|group| !group.fraction && !group.hundreds)?;
        let count = group.value.as_whole().filter(|count| (1..4).contains(count))?;
        group.value = Number::from_hundredths(25).checked_mul(count)?;
        group.fraction = true;
        Some(())
    }

    fn push_suffix(&mut self, hundredths: u16) -> Option<()> {
        let part = Number::from_hundredths(u32::from(hundredths));
        match &mut self.group {
            Some(group) if group.fraction || group.hundreds || group.value >= Number::from_whole(100) => None,
            Some(group) => {
                group.value = group.value.checked_add(part)?;
                group.fraction = true;
                group.tens = false;
                Some(())
            }
            None => match self.scale.filter(|_| self.waiting.is_none()) {
                // A lakh and a half: half of another lakh.
                Some(scale) => {
                    self.total = self.total.checked_add(part.checked_mul(scale)?)?;
                    Some(())
                }
                None => self.push_fraction(hundredths),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compose(parts: &[NumberPart], tens: TensStyle) -> Option<(Number, Option<Number>)> {
        let mut composer = NumberComposer::default();
        parts.iter().all(|part| composer.push(*part, tens)).then_some(())?;
        Some((composer.value()?, composer.other_value()))
    }

    #[test]
    fn groups_and_scales_add_up() {
        use NumberPart::{Cardinal as C, Fraction as F, Minus as M, Plus as P, Scale as S, Suffix};
        for (parts, expected) in [
            (&[C(2), S(100_000), C(50), S(1000)][..], 250_000),
            (&[C(12), S(100)], 1_200),
            (&[S(1000), C(5), S(100)], 1_500),
            (&[P(50), C(3), S(100)], 350),
            (&[P(25), S(100_000)], 125_000),
            (&[M(25), C(2), S(100)], 175),
            (&[F(250), S(1000)], 2_500),
            (&[C(1), Suffix(50), S(100_000)], 150_000),
            (&[C(1), S(10_000_000), C(25), S(100_000)], 12_500_000),
            (&[C(2), S(1000), S(10_000_000)], 20_000_000_000),
        ] {
            let found = compose(parts, TensStyle::InOneWord);
            assert_eq!(found, Some((Number::from_whole(expected), None)), "{parts:?}");
        }
        assert_eq!(
            compose(&[C(20), C(5)], TensStyle::Apart).map(|found| found.0),
            Some(Number::from_whole(25))
        );
    }

    #[test]
    fn what_nobody_says_is_refused_or_doubted() {
        use NumberPart::{Cardinal as C, Plus as P, Scale as S};
        for parts in [&[C(20), C(5)][..], &[P(50)], &[C(5), S(1000), C(2), S(100_000)], &[C(0), S(100)]] {
            assert_eq!(compose(parts, TensStyle::InOneWord), None, "{parts:?}");
        }
        let found = compose(&[C(2), S(100_000), C(50)], TensStyle::InOneWord);
        assert_eq!(found, Some((Number::from_whole(200_050), Some(Number::from_whole(250_000)))));
    }
}
