//! Numbers compared as what was written, not as what a float makes of it.

use std::cmp::Ordering;

use serde_json::{Number, Value};

pub(crate) fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

pub(crate) fn compare(one: &Number, other: &Number) -> Ordering {
    match (as_integer(one), as_integer(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => {
            let float = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
            float(one).partial_cmp(&float(other)).unwrap_or(Ordering::Equal)
        }
    }
}

/// A whole number of any spelling; none where it has a fraction or is past what is exact.
fn as_integer(number: &Number) -> Option<i128> {
    if let Some(small) = number.as_i64() {
        return Some(i128::from(small));
    }
    if let Some(large) = number.as_u64() {
        return Some(i128::from(large));
    }
    let float = number.as_f64()?;
    #[allow(clippy::cast_possible_truncation, reason = "whole and below 2^100, so nothing is cut")]
    let whole = (float.fract() == 0.0 && float.abs() < 1e30).then_some(float as i128);
    whole
}

/// Whether the number is a whole multiple, by its decimal digits: 0.3 is three times 0.1.
pub(crate) fn is_multiple(number: &Number, of: &Number) -> bool {
    match (as_decimal(number), as_decimal(of)) {
        (Some((left, left_scale)), Some((right, right_scale))) => {
            let scale = left_scale.max(right_scale);
            let grown = |digits: i128, from: u32| {
                10_i128.checked_pow(scale - from).and_then(|power| digits.checked_mul(power))
            };
            match (grown(left, left_scale), grown(right, right_scale)) {
                (Some(left), Some(right)) if right != 0 => left % right == 0,
                _ => is_float_multiple(number, of),
            }
        }
        _ => is_float_multiple(number, of),
    }
}

fn is_float_multiple(number: &Number, of: &Number) -> bool {
    let (Some(number), Some(of)) = (number.as_f64(), of.as_f64()) else { return false };
    (number % of) == 0.0
}

/// The digits and how many of them stand behind the point.
fn as_decimal(number: &Number) -> Option<(i128, u32)> {
    let text = number.to_string();
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text.as_str(), 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let value: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = i32::try_from(fraction.len()).ok()? - exponent;
    if scale >= 0 {
        return Some((value, u32::try_from(scale).ok()?));
    }
    let power = 10_i128.checked_pow(u32::try_from(-scale).ok()?)?;
    Some((value.checked_mul(power)?, 0))
}

/// Equality of JSON values: 1 is 1.0, and the order of properties does not matter.
pub(crate) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Ordering::Equal,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| is_equal(one, other)))
        }
        (one, other) => one == other,
    }
}
