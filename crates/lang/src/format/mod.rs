//! Amounts, days, times and lists as people read them in each language.

use jiff::civil::{Date, Time};
use munshi_types::{Language, Money};

use crate::detect::ScriptForm;

mod words;

/// A language and how it is written: what a reply must mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locale {
    pub language: Language,
    pub form: ScriptForm,
}

impl Locale {
    /// Every voice there is: eleven languages, ten of them in two forms.
    pub fn all() -> impl Iterator<Item = Self> {
        Language::ALL.into_iter().flat_map(|language| {
            let native =
                (language != Language::English).then_some(Self { language, form: ScriptForm::Native });
            native.into_iter().chain([Self { language, form: ScriptForm::Latin }])
        })
    }

    /// Its name in file names and lists: `hi`, `hi-latn`.
    pub fn code(self) -> String {
        match self.form {
            ScriptForm::Latin if self.language != Language::English => {
                format!("{}-latn", self.language.code())
            }
            _ => self.language.code().to_owned(),
        }
    }

    /// The voice to answer in; English has one form only.
    pub fn new(language: Language, form: ScriptForm) -> Self {
        let form = if language == Language::English { ScriptForm::Latin } else { form };
        Self { language, form }
    }
}

/// ₹1,50,000; paise only where there are any.
pub fn rupees(amount: Money) -> String {
    let sign = if amount.is_negative() { "-" } else { "" };
    let paise = amount.as_paise().unsigned_abs();
    let whole = group_digits(paise / 100);
    match paise % 100 {
        0 => format!("{sign}₹{whole}"),
        rest => format!("{sign}₹{whole}.{rest:02}"),
    }
}

/// Digits with Indian commas: 1,50,000.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let Some((front, last)) = digits.len().checked_sub(3).and_then(|at| digits.split_at_checked(at)) else {
        return digits;
    };
    if front.is_empty() {
        return digits;
    }
    let mut out = String::with_capacity(digits.len() + 6);
    for (at, digit) in front.char_indices() {
        if at > 0 && (front.len() - at).is_multiple_of(2) {
            out.push(',');
        }
        out.push(digit);
    }
    out + "," + last
}

/// 15 अगस्त 2026; in Latin letters the English month, as people write it.
pub fn date(day: Date, voice: Locale) -> String {
    format!("{} {} {}", day.day(), words::month_name(voice, day.month()), day.year())
}

/// शाम 5:30 बजे, 5:30 pm: the part of the day said as the language says it.
pub fn time(time: Time, voice: Locale) -> String {
    let hour = match time.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    let clock = if time.minute() == 0 { format!("{hour}") } else { format!("{hour}:{:02}", time.minute()) };
    if voice.language == Language::English {
        let half = if time.hour() < 12 { "am" } else { "pm" };
        return format!("{clock} {half}");
    }
    let words = words::clock_words(voice);
    let part = match time.hour() {
        4..=11 => words.morning,
        12..=15 => words.noon,
        16..=19 => words.evening,
        _ => words.night,
    };
    format!("{part} {clock} {}", words.hour).trim_end().to_owned()
}

/// A, B और C.
pub fn list<S: AsRef<str>>(items: &[S], voice: Locale) -> String {
    let Some((last, front)) = items.split_last() else { return String::new() };
    if front.is_empty() {
        return last.as_ref().to_owned();
    }
    let front: Vec<&str> = front.iter().map(AsRef::as_ref).collect();
    format!("{} {} {}", front.join(", "), words::conjunction(voice), last.as_ref())
}

/// Which plural form a count takes, by the rules of CLDR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluralForm {
    One,
    Other,
}

pub fn plural_form(count: u64, language: Language) -> PluralForm {
    use Language::{Bengali, Gujarati, Hindi, Kannada, Punjabi};
    let zero_is_one = matches!(language, Bengali | Gujarati | Hindi | Kannada | Punjabi);
    if count == 1 || (count == 0 && zero_is_one) { PluralForm::One } else { PluralForm::Other }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Certainty, NumberKind, UnderstandingContext, understand};
    use proptest::prelude::*;

    const HINDI: Locale = Locale { language: Language::Hindi, form: ScriptForm::Native };
    const TAMIL_LATIN: Locale = Locale { language: Language::Tamil, form: ScriptForm::Latin };

    #[test]
    fn amounts_are_grouped_the_indian_way() {
        for (paise, expected) in [
            (15_000_000, "₹1,50,000"),
            (50_000, "₹500"),
            (100_000, "₹1,000"),
            (125_050, "₹1,250.50"),
            (-5, "-₹0.05"),
            (12_345_678_900, "₹12,34,56,789"),
        ] {
            assert_eq!(rupees(Money::from_paise(paise)), expected);
        }
    }

    #[test]
    fn days_times_and_lists_follow_the_voice() {
        let day = jiff::civil::date(2026, 8, 15);
        assert_eq!(date(day, HINDI), "15 अगस्त 2026");
        assert_eq!(date(day, TAMIL_LATIN), "15 August 2026");
        assert_eq!(time(jiff::civil::time(17, 30, 0, 0), HINDI), "शाम 5:30 बजे");
        assert_eq!(
            time(jiff::civil::time(0, 5, 0, 0), Locale::new(Language::English, ScriptForm::Native)),
            "12:05 am"
        );
        assert_eq!(list(&["राम", "सीता", "गीता"], HINDI), "राम, सीता और गीता");
        assert_eq!(list(&["Ram"], TAMIL_LATIN), "Ram");
        assert_eq!(list::<&str>(&[], HINDI), "");
    }

    proptest! {
        #[test]
        fn what_is_formatted_is_read_back(paise in 1i64..100_000_000_000_000) {
            let text = rupees(Money::from_paise(paise));
            let found = understand(&text, &UnderstandingContext::default()).numbers;
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!((found[0].kind, found[0].certainty), (NumberKind::Money, Certainty::Exact));
            prop_assert_eq!(found[0].value.as_money(), Some(Money::from_paise(paise)));
        }

        #[test]
        fn dates_are_read_back(year in 1995i16..2099, month in 1i8..=12, day in 1i8..=28, at in 0usize..21) {
            let day = jiff::civil::date(year, month, day);
            let voice = Locale::all().nth(at).unwrap();
            let context = UnderstandingContext { language: Some(voice.language), today: Some(day), ..UnderstandingContext::default() };
            let found = understand(&date(day, voice), &context).dates;
            prop_assert_eq!(found.len(), 1, "{}", date(day, voice));
            prop_assert_eq!(found[0].readings[0].from, Some(day));
        }

        #[test]
        fn times_are_read_back(hour in 0i8..24, minute in 0i8..60, at in 0usize..21) {
            let moment = jiff::civil::time(hour, minute, 0, 0);
            let voice = Locale::all().nth(at).unwrap();
            let text = time(moment, voice);
            let context = UnderstandingContext { language: Some(voice.language), ..UnderstandingContext::default() };
            let found = understand(&text, &context).times;
            prop_assert_eq!(found.len(), 1, "{}", &text);
            prop_assert_eq!(&found[0].readings, &[moment], "{}", &text);
        }
    }
}
