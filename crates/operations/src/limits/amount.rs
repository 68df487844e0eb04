//! What a limit is about, and how much it is, as they are written.

use munshi_pack::operation::OperationError;
use munshi_safety::budget::{BudgetLane, BudgetLimitSubject, BudgetLimitValue, BudgetMeasure};

/// `SCOPE.PERIOD.MEASURE`, with `background.` before it for background work.
pub(super) fn parse_subject(text: &str) -> Result<BudgetLimitSubject, OperationError> {
    let (lane, rest) = match text.split_once('.') {
        Some(("background", rest)) => (BudgetLane::Background, rest),
        Some(("people", rest)) => (BudgetLane::People, rest),
        _ => (BudgetLane::People, text),
    };
    let wrong = |what: String| OperationError::field("limit", &what);
    let parts: Vec<&str> = rest.split('.').collect();
    let [scope, period, measure] = parts[..] else {
        return Err(wrong("write SCOPE.PERIOD.MEASURE, such as tenant.month.money".to_owned()));
    };
    Ok(BudgetLimitSubject {
        lane,
        scope: scope.parse().map_err(wrong)?,
        id: None,
        period: period.parse().map_err(wrong)?,
        measure: measure.parse().map_err(wrong)?,
    })
}

pub(super) fn parse_amount(measure: BudgetMeasure, text: &str) -> Result<BudgetLimitValue, OperationError> {
    let wrong = |what: &str, hint: &str| {
        let shown: String = text.chars().take(40).collect();
        OperationError::field("amount", &format!("`{shown}` is not {what}")).hint(hint)
    };
    match (text, measure) {
        ("none", _) => Ok(BudgetLimitValue::Unlimited),
        ("default", _) => Ok(BudgetLimitValue::Default),
        (text, BudgetMeasure::Money) => parse_dollars(text)
            .map(BudgetLimitValue::AtMost)
            .ok_or_else(|| wrong("an amount of money", "Write dollars, such as 50 or 0.50.")),
        (text, _) => text
            .parse()
            .map(BudgetLimitValue::AtMost)
            .map_err(|_| wrong("a whole number", "Use a whole number, `none` or `default`.")),
    }
}

/// Millionths, by the digits: a float would round.
fn parse_dollars(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    if !plain(whole) || !plain(decimals) || decimals.len() > 6 {
        return None;
    }
    let fraction: u64 = format!("{decimals:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use munshi_safety::budget::BudgetScope;

    use super::*;

    #[test]
    fn amounts_are_exact_or_refused() {
        assert_eq!(parse_dollars("0.5"), Some(500_000));
        assert_eq!(parse_dollars("12"), Some(12_000_000));
        for bad in ["", ".5", "1.", "-1", "1e3", "$5", "0.0000001", "99999999999999999999"] {
            assert_eq!(parse_dollars(bad), None, "{bad}");
        }
        assert!(matches!(parse_amount(BudgetMeasure::Tokens, "none"), Ok(BudgetLimitValue::Unlimited)));
        assert!(parse_amount(BudgetMeasure::Tokens, "1.5").is_err());
    }

    #[test]
    fn a_limit_is_read_or_told_how_to_write() {
        let read = |text: &str| {
            parse_subject(text).map(|on| (on.lane, on.scope, on.measure)).map_err(|error| error.message)
        };
        let wanted = (BudgetLane::People, BudgetScope::Tenant, BudgetMeasure::Money);
        assert_eq!(read("tenant.month.money"), Ok(wanted));
        let wanted = (BudgetLane::Background, BudgetScope::Person, BudgetMeasure::Tokens);
        assert_eq!(read("background.person.day.tokens"), Ok(wanted));
        assert!(read("tenant.money").unwrap_err().contains("SCOPE.PERIOD.MEASURE"));
        assert!(read("tenant.year.money").unwrap_err().contains("use month or day"));
    }
}
