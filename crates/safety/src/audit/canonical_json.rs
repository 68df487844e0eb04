//! JSON with one spelling for each value, after RFC 8785: keys in the order of their UTF-16 units, no blanks, numbers
//! as ECMAScript writes them. Two programs that agree on a value agree on its bytes, and so on its hash.
//!
//! One thing goes beyond the RFC: a whole number past 2^53, which readers may round, is written as text, so that every
//! reader sees the same.

use serde_json::{Number, Value};

/// The largest whole number that every reader of JSON sees as it was written.
const SAFE: u64 = (1 << 53) - 1;

pub fn to_canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            out.push('{');
            for (position, (key, value)) in fields.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

/// As JSON.stringify escapes: what must be, and nothing else.
pub(super) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

fn write_number(number: &Number, out: &mut String) {
    let whole = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
    match (whole, number.as_f64()) {
        (Some(size), _) if size <= SAFE => out.push_str(&number.to_string()),
        (Some(_), _) => write_text(&number.to_string(), out),
        (None, Some(float)) if float.is_finite() => {
            let text = float_text(float);
            // Spelt in digits alone, it would be read as a whole number.
            match text.trim_start_matches('-').parse::<u128>() {
                Ok(size) if size > u128::from(SAFE) => write_text(&text, out),
                _ => out.push_str(&text),
            }
        }
        (None, _) => write_text(&number.to_string(), out),
    }
}

/// ECMAScript's Number::toString. The digits are serde_json's: the shortest that read back as the same number, and of
/// two equally near the even one, which the standard library's are not.
fn float_text(float: f64) -> String {
    if float == 0.0 {
        return "0".to_owned();
    }
    let sign = if float < 0.0 { "-" } else { "" };
    let (digits, point) = digits_of(float.abs());
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let zeros = |many: i64| "0".repeat(usize::try_from(many).unwrap_or(0));
    let body = match point {
        point if (count..=21).contains(&point) => format!("{digits}{}", zeros(point - count)),
        point if (1..=21).contains(&point) => {
            let (whole, part) = digits.split_at(usize::try_from(point).unwrap_or(0));
            format!("{whole}.{part}")
        }
        point if (-5..=0).contains(&point) => format!("0.{}{digits}", zeros(-point)),
        point => {
            let (first, rest) = digits.split_at(1);
            let part = if rest.is_empty() { String::new() } else { format!(".{rest}") };
            let (mark, power) = if point > 0 { ('+', point - 1) } else { ('-', 1 - point) };
            format!("{first}{part}e{mark}{power}")
        }
    };
    format!("{sign}{body}")
}

/// The digits without zeros at either end, and how many of them stand before the point.
fn digits_of(float: f64) -> (String, i64) {
    let text = Value::from(float).to_string();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{part}");
    let significant = all.trim_start_matches('0');
    let length = |text: &str| i64::try_from(text.len()).unwrap_or(0);
    let point = length(whole) - (length(&all) - length(significant));
    let power: i64 = exponent.trim_start_matches('+').parse().unwrap_or(0);
    (significant.trim_end_matches('0').to_owned(), point + power)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_written_as_the_rfc_has_them() {
        // From appendix B of RFC 8785.
        for (bits, text) in [
            (0x0000_0000_0000_0000_u64, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(float_text(f64::from_bits(bits)), text, "{bits:x}");
        }
    }

    #[test]
    fn keys_are_sorted_and_nothing_is_added() {
        let value =
            json!({"\u{fb33}": 1, "\u{1f600}": 2, "b": [1.0, true, null], "a": {"z": "\u{1}\"é\n", "": 0.5}});
        let text =
            "{\"a\":{\"\":0.5,\"z\":\"\\u0001\\\"é\\n\"},\"b\":[1,true,null],\"\u{1f600}\":2,\"\u{fb33}\":1}";
        assert_eq!(to_canonical_json(&value), text);
    }

    #[test]
    fn a_number_too_large_for_a_double_is_kept_as_text() {
        let value = json!([9_007_199_254_740_991_u64, 9_007_199_254_740_992_u64, -9_007_199_254_740_993_i64]);
        assert_eq!(
            to_canonical_json(&value),
            "[9007199254740991,\"9007199254740992\",\"-9007199254740993\"]"
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn read_and_written_again_it_is_the_same(value in any_json()) {
            let once = to_canonical_json(&value);
            let read: Value = serde_json::from_str(&once).unwrap();
            prop_assert_eq!(to_canonical_json(&read), once);
        }
    }
}
