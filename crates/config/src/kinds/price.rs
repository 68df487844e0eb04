//! Dollars, exact to the millionth: for a million tokens, or as an amount.

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;

/// For a million tokens. The value is in millionths of a dollar.
#[derive(Debug)]
pub enum TokenPriceKind {}

/// An amount, in millionths of a dollar.
#[derive(Debug)]
pub enum DollarsKind {}

/// What another money costs in rupees; the value is in paise.
#[derive(Debug)]
pub enum RupeesKind {}

/// An amount, or "" for no limit.
#[derive(Debug)]
pub enum OptionalDollarsKind {}

/// As many digits after the point as a millionth has.
const DECIMALS: usize = 6;
/// Of millionths.
const PAISA: u64 = 10_000;
/// In dollars: no model costs that much, and sums of such prices still fit.
const MOST: u64 = 1_000_000;

impl SettingKind for TokenPriceKind {
    type Value = u64;

    fn expects() -> String {
        format!("dollars per million tokens, such as 3 or \"0.075\", with at most {DECIMALS} decimals")
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<u64, SettingFault> {
        read(raw, "price")
    }

    fn show(value: &u64) -> RedactedSetting {
        show(*value)
    }
}

impl SettingKind for DollarsKind {
    type Value = u64;

    fn expects() -> String {
        format!("dollars, such as 50 or \"0.50\", with at most {DECIMALS} decimals")
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<u64, SettingFault> {
        read(raw, "amount")
    }

    fn show(value: &u64) -> RedactedSetting {
        show(*value)
    }
}

impl SettingKind for RupeesKind {
    type Value = u64;

    fn expects() -> String {
        "rupees, such as 85 or \"85.50\"".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<u64, SettingFault> {
        match read(raw, "amount")? / PAISA {
            0 => Err(SettingFault::new("the rate is too small")),
            paise => Ok(paise),
        }
    }

    fn show(value: &u64) -> RedactedSetting {
        show(*value * PAISA)
    }
}

impl SettingKind for OptionalDollarsKind {
    type Value = Option<u64>;

    fn expects() -> String {
        "dollars, such as 50 or \"0.50\", or \"\" for no limit".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Option<u64>, SettingFault> {
        match raw {
            RawSetting::Bare(text) | RawSetting::Text(text) if text.trim().is_empty() => Ok(None),
            _ => read(raw, "amount").map(Some),
        }
    }

    fn show(value: &Option<u64>) -> RedactedSetting {
        value.map_or_else(|| RedactedSetting::Text(String::new()), show)
    }
}

fn read(raw: &RawSetting, noun: &str) -> Result<u64, SettingFault> {
    match raw {
        RawSetting::Bare(text) | RawSetting::Text(text) | RawSetting::Decimal(text) => {
            millionths(raw, text.trim(), noun)
        }
        RawSetting::Whole(number) => millionths(raw, &number.to_string(), noun),
        _ => Err(no_number(raw, noun)),
    }
}

fn show(value: u64) -> RedactedSetting {
    let text = format!("{}.{:06}", value / MOST, value % MOST);
    RedactedSetting::Text(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

fn no_number(raw: &RawSetting, noun: &str) -> SettingFault {
    raw.wrong_kind(if noun == "price" { "a price" } else { "an amount" })
}

/// By its digits: a float would round.
fn millionths(raw: &RawSetting, text: &str, noun: &str) -> Result<u64, SettingFault> {
    if text.starts_with('-') {
        return Err(SettingFault::new(format!("the {noun} is below zero")));
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.chars().all(|letter| letter.is_ascii_digit());
    if whole.is_empty() || text.ends_with('.') || !digits(whole) || !digits(decimals) {
        return Err(match raw {
            RawSetting::Decimal(_) => SettingFault::new(format!("the {noun} is not a plain decimal number")),
            _ => no_number(raw, noun),
        });
    }
    if decimals.len() > DECIMALS {
        return Err(SettingFault::new(format!("the {noun} has too many decimals")));
    }
    let whole = whole.parse::<u64>().ok().filter(|dollars| *dollars < MOST);
    let whole = whole.ok_or_else(|| SettingFault::new(format!("the {noun} is too large")))?;
    // At most six digits, so both fit.
    let fraction: u64 = format!("{decimals:0<6}").parse().unwrap_or_default();
    Ok(whole * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(raw: &RawSetting) -> Result<u64, String> {
        <TokenPriceKind as SettingKind>::read(raw, &HomeFolders::default()).map_err(|fault| fault.what)
    }

    #[test]
    fn a_price_is_exact_in_every_form() {
        let text = |text: &str| read(&RawSetting::Text(text.to_owned()));
        assert_eq!(text("3"), Ok(3_000_000));
        assert_eq!(text("0.075"), Ok(75_000));
        assert_eq!(text("0.000001"), Ok(1));
        assert_eq!(text("999999.999999"), Ok(999_999_999_999));
        assert_eq!(read(&RawSetting::Decimal("0.1".to_owned())), Ok(100_000));
        assert_eq!(read(&RawSetting::Whole(15)), Ok(15_000_000));
        assert_eq!(read(&RawSetting::Bare(" 0 ".to_owned())), Ok(0));
    }

    #[test]
    fn an_amount_may_be_left_out_only_where_it_may() {
        let home = HomeFolders::default();
        let empty = RawSetting::Text(String::new());
        assert_eq!(OptionalDollarsKind::read(&empty, &home), Ok(None));
        assert_eq!(
            OptionalDollarsKind::read(&RawSetting::Whole(0), &home),
            Ok(Some(0)),
            "nothing is not no limit"
        );
        assert!(DollarsKind::read(&empty, &home).is_err());
        assert_eq!(DollarsKind::read(&RawSetting::Text("0.50".to_owned()), &home), Ok(500_000));
        assert_eq!(RupeesKind::read(&RawSetting::Text("88.75".to_owned()), &home), Ok(8_875));
        assert!(RupeesKind::read(&RawSetting::Whole(0), &home).is_err());
        assert_eq!(
            DollarsKind::read(&RawSetting::Whole(-1), &home).unwrap_err().what,
            "the amount is below zero"
        );
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for (written, why) in [
            ("-1", "below zero"),
            ("-0.0", "below zero"),
            ("0.0000001", "too many decimals"),
            ("1000000", "too large"),
            ("99999999999999999999999", "too large"),
        ] {
            assert!(read(&RawSetting::Decimal(written.to_owned())).unwrap_err().contains(why), "{written}");
        }
        for written in ["nan", "inf", "+1", "1e3", "1_000", "1.", ".5", "$3", "", "1.2.3", "३"] {
            for raw in [RawSetting::Decimal(written.to_owned()), RawSetting::Bare(written.to_owned())] {
                assert!(read(&raw).is_err(), "{written}");
            }
        }
        assert!(read(&RawSetting::Flag(true)).is_err());
        assert!(read(&RawSetting::Whole(-1)).unwrap_err().contains("below zero"));
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(price in 0..1_000_000_000_000_u64) {
            let RedactedSetting::Text(text) = TokenPriceKind::show(&price) else { panic!("a price is shown as text") };
            prop_assert_eq!(read(&RawSetting::Text(text)), Ok(price));
        }
    }
}
