//! Rates of goods that small shops sell, by the beginning of their HSN code and the day of supply. What is not here has
//! to be said by the owner, and what the owner says counts before this.

use jiff::civil::{Date, date};

use super::rate::TaxRate;

const NEW: Date = date(2025, 9, 22);

/// An HSN code's beginning, its rate before the new rates and since, in hundredths of a percent; none is not known.
const RATES: [(&str, Option<i64>, i64); 21] = [
    // Butter, ghee and cheese.
    ("0405", Some(1_200), 500),
    ("0406", Some(1_200), 500),
    // Sweets and chocolate.
    ("1806", Some(1_800), 500),
    // Pasta and noodles.
    ("1902", Some(1_800), 500),
    // Corn flakes; biscuits and cakes.
    ("1904", Some(1_800), 500),
    ("1905", None, 500),
    // Fruit juice; sauces.
    ("2009", Some(1_200), 500),
    ("2103", Some(1_200), 500),
    // Coffee extracts; ice cream; namkeen.
    ("2101", Some(1_800), 500),
    ("2105", Some(1_800), 500),
    ("210690", Some(1_200), 500),
    // Aerated drinks.
    ("220210", Some(2_800), 4_000),
    // Cement.
    ("2523", Some(2_800), 1_800),
    // Shampoo and hair oil; toothpaste; soap in bars.
    ("3305", Some(1_800), 500),
    ("3306", Some(1_800), 500),
    ("340111", Some(1_800), 500),
    // Exercise books; pencils.
    ("4820", None, 0),
    ("9609", Some(1_200), 0),
    // Jewellery.
    ("7113", Some(300), 300),
    // Bicycles; air conditioners.
    ("8712", Some(1_200), 500),
    ("8415", Some(2_800), 1_800),
];

/// The rate of an HSN code on a day, by the longest beginning that is known.
pub fn find_rate(hsn: &str, day: Date) -> Option<TaxRate> {
    let fitting = RATES.iter().filter(|(beginning, ..)| hsn.starts_with(beginning));
    let (_, before, since) = fitting.max_by_key(|(beginning, ..)| beginning.len())?;
    let rate = if day < NEW { *before } else { Some(*since) };
    rate.map(TaxRate::from_hundredths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_follows_the_day() {
        let soap = |day| find_rate("34011190", day).map(TaxRate::as_hundredths);
        assert_eq!((soap(date(2025, 9, 21)), soap(date(2025, 9, 22))), (Some(1_800), Some(500)));
        assert_eq!(find_rate("9999", NEW), None);
    }

    #[test]
    fn every_rate_was_one_on_its_days() {
        for (hsn, before, since) in RATES {
            TaxRate::from_hundredths(since).validate_on(NEW, hsn).unwrap();
            before.map(|rate| TaxRate::from_hundredths(rate).validate_on(date(2025, 9, 21), hsn).unwrap());
            assert!((4..=8).contains(&hsn.len()) && hsn.bytes().all(|byte| byte.is_ascii_digit()));
        }
    }
}
