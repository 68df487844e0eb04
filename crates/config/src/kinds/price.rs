//! Dollars, exact to the millionth: for a million tokens, or as an amount.

use super::{Fault, Home, Kind, Raw};
use crate::show::Shown;

/// For a million tokens. The value is in millionths of a dollar.
#[derive(Debug)]
pub enum Price {}

/// An amount, in millionths of a dollar.
#[derive(Debug)]
pub enum Dollars {}

/// What another money costs in rupees; the value is in paise.
#[derive(Debug)]
pub enum Rupees {}

/// An amount, or "" for no limit.
#[derive(Debug)]
pub enum DollarsOrNone {}

/// As many digits after the point as a millionth has.
const DECIMALS: usize = 6;
/// Of millionths.
const PAISA: u64 = 10_000;
/// In dollars: no model costs that much, and sums of such prices still fit.
const MOST: u64 = 1_000_000;

impl Kind for Price {
    type Value = u64;

    fn expects() -> String {
        format!("dollars for a million tokens, such as 3 or \"0.075\", with at most {DECIMALS} decimals")
    }

    fn read(raw: &Raw, _: &Home) -> Result<u64, Fault> {
        read(raw, "price")
    }

    fn show(value: &u64) -> Shown {
        show(*value)
    }
}

impl Kind for Dollars {
    type Value = u64;

    fn expects() -> String {
        format!("dollars, such as 50 or \"0.50\", with at most {DECIMALS} decimals")
    }

    fn read(raw: &Raw, _: &Home) -> Result<u64, Fault> {
        read(raw, "amount")
    }

    fn show(value: &u64) -> Shown {
        show(*value)
    }
}

impl Kind for Rupees {
    type Value = u64;

    fn expects() -> String {
        "rupees, such as 85 or \"85.50\"".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<u64, Fault> {
        match read(raw, "amount")? / PAISA {
            0 => Err(Fault::new("nothing is that cheap")),
            paise => Ok(paise),
        }
    }

    fn show(value: &u64) -> Shown {
        show(*value * PAISA)
    }
}

impl Kind for DollarsOrNone {
    type Value = Option<u64>;

    fn expects() -> String {
        "dollars, such as 50 or \"0.50\", or \"\" for no limit".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<Option<u64>, Fault> {
        match raw {
            Raw::Bare(text) | Raw::Text(text) if text.trim().is_empty() => Ok(None),
            _ => read(raw, "amount").map(Some),
        }
    }

    fn show(value: &Option<u64>) -> Shown {
        value.map_or_else(|| Shown::Text(String::new()), show)
    }
}

fn read(raw: &Raw, noun: &str) -> Result<u64, Fault> {
    match raw {
        Raw::Bare(text) | Raw::Text(text) | Raw::Decimal(text) => millionths(raw, text.trim(), noun),
        Raw::Whole(number) => millionths(raw, &number.to_string(), noun),
        _ => Err(no_number(raw, noun)),
    }
}

fn show(value: u64) -> Shown {
    let text = format!("{}.{:06}", value / MOST, value % MOST);
    Shown::Text(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

fn no_number(raw: &Raw, noun: &str) -> Fault {
    raw.wrong_kind(if noun == "price" { "a price" } else { "an amount" })
}

/// By its digits: a float would round.
fn millionths(raw: &Raw, text: &str, noun: &str) -> Result<u64, Fault> {
    if text.starts_with('-') {
        return Err(Fault::new(format!("the {noun} is below zero")));
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.chars().all(|letter| letter.is_ascii_digit());
    if whole.is_empty() || text.ends_with('.') || !digits(whole) || !digits(decimals) {
        return Err(match raw {
            Raw::Decimal(_) => Fault::new(format!("the {noun} is not a plain decimal number")),
            _ => no_number(raw, noun),
        });
    }
    if decimals.len() > DECIMALS {
        return Err(Fault::new(format!("the {noun} has too many decimals")));
    }
    let whole = whole.parse::<u64>().ok().filter(|dollars| *dollars < MOST);
    let whole = whole.ok_or_else(|| Fault::new(format!("the {noun} is too large")))?;
    // At most six digits, so both fit.
    let fraction: u64 = format!("{decimals:0<6}").parse().unwrap_or_default();
    Ok(whole * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(raw: &Raw) -> Result<u64, String> {
        <Price as Kind>::read(raw, &Home::default()).map_err(|fault| fault.what)
    }

    #[test]
    fn a_price_is_exact_in_every_form() {
        let text = |text: &str| read(&Raw::Text(text.to_owned()));
        assert_eq!(text("3"), Ok(3_000_000));
        assert_eq!(text("0.075"), Ok(75_000));
        assert_eq!(text("0.000001"), Ok(1));
        assert_eq!(text("999999.999999"), Ok(999_999_999_999));
        assert_eq!(read(&Raw::Decimal("0.1".to_owned())), Ok(100_000));
        assert_eq!(read(&Raw::Whole(15)), Ok(15_000_000));
        assert_eq!(read(&Raw::Bare(" 0 ".to_owned())), Ok(0));
    }

    #[test]
    fn an_amount_may_be_left_out_only_where_it_may() {
        let home = Home::default();
        let empty = Raw::Text(String::new());
        assert_eq!(DollarsOrNone::read(&empty, &home), Ok(None));
        assert_eq!(DollarsOrNone::read(&Raw::Whole(0), &home), Ok(Some(0)), "nothing is not no limit");
        assert!(Dollars::read(&empty, &home).is_err());
        assert_eq!(Dollars::read(&Raw::Text("0.50".to_owned()), &home), Ok(500_000));
        assert_eq!(Rupees::read(&Raw::Text("88.75".to_owned()), &home), Ok(8_875));
        assert!(Rupees::read(&Raw::Whole(0), &home).is_err());
        assert_eq!(Dollars::read(&Raw::Whole(-1), &home).unwrap_err().what, "the amount is below zero");
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
            assert!(read(&Raw::Decimal(written.to_owned())).unwrap_err().contains(why), "{written}");
        }
        for written in ["nan", "inf", "+1", "1e3", "1_000", "1.", ".5", "$3", "", "1.2.3", "३"] {
            for raw in [Raw::Decimal(written.to_owned()), Raw::Bare(written.to_owned())] {
                assert!(read(&raw).is_err(), "{written}");
            }
        }
        assert!(read(&Raw::Flag(true)).is_err());
        assert!(read(&Raw::Whole(-1)).unwrap_err().contains("below zero"));
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(price in 0..1_000_000_000_000_u64) {
            let Shown::Text(text) = Price::show(&price) else { panic!("a price is shown as text") };
            prop_assert_eq!(read(&Raw::Text(text)), Ok(price));
        }
    }
}
