//! `calculate`: a written sum, exactly.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_types::{Language, Reach, ToolExample, ToolNameError, ToolSpec};
use serde_json::{Value, json};

use super::fraction::{ArithmeticError, ExactFraction};
use crate::handler::{ReadToolHandler, ToolFailure, ToolOutput};

const LONGEST: usize = 500;
const DEEPEST: usize = 40;

/// The first digit of every script that is written here.
const ZEROS: [char; 11] = ['0', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '٠'];

pub(super) struct CalculateTool;

impl ReadToolHandler for CalculateTool {
    fn read(&self, permit: &Permit, _tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let text = permit.arguments().get("expression").and_then(Value::as_str).unwrap_or_default();
        let bad = |what: String| ToolFailure::permanent("bad_expression", what);
        let result = evaluate(text).map_err(bad)?;
        Ok(ToolOutput::new(
            json!({ "expression": text, "result": result.to_string(), "exact": result.is_terminating() }),
        ))
    }
}

/// What the expression comes to, or what is wrong with it and what to write.
fn evaluate(text: &str) -> Result<ExactFraction, String> {
    if text.chars().count() > LONGEST {
        return Err(format!("the expression is longer than {LONGEST} letters: calculate it in parts"));
    }
    let mut reader = Reader { letters: text.chars().peekable(), depth: 0 };
    let value = reader.parse_sum()?;
    match reader.peek_letter() {
        None => Ok(value),
        Some(')') => Err("there is a ) without its (".to_owned()),
        Some(letter) => Err(unexpected(letter)),
    }
}

fn unexpected(letter: char) -> String {
    format!("`{}` can't be calculated with: write numbers, + - * / % and parentheses", letter.escape_debug())
}

fn render_error(impossible: ArithmeticError) -> String {
    impossible.to_string()
}

struct Reader<'t> {
    letters: Peekable<Chars<'t>>,
    depth: usize,
}

impl Reader<'_> {
    fn peek_letter(&mut self) -> Option<char> {
        while self.letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        self.letters.peek().copied()
    }

    fn consume(&mut self, wanted: &[char]) -> Option<char> {
        let letter = self.peek_letter()?;
        wanted.contains(&letter).then(|| self.letters.next()).flatten()
    }

    fn parse_sum(&mut self) -> Result<ExactFraction, String> {
        let mut total = self.parse_product()?;
        while let Some(sign) = self.consume(&['+', '-', '−', '–']) {
            let next = self.parse_product()?;
            total = total.plus(if sign == '+' { next } else { next.negated() }).map_err(render_error)?;
        }
        Ok(total)
    }

    fn parse_product(&mut self) -> Result<ExactFraction, String> {
        let mut total = self.parse_signed()?;
        while let Some(sign) = self.consume(&['*', '×', '/', '÷', '%']) {
            if sign == '%'
                && self.peek_letter().is_none_or(|letter| !letter.is_alphanumeric() && letter != '(')
            {
                return Err(
                    "a % b is what is left of a divided by b; for a percentage write 18/100 * 250".to_owned()
                );
            }
            let next = self.parse_signed()?;
            let outcome = match sign {
                '*' | '×' => total.times(next),
                '%' => total.remainder(next),
                _ => total.divided_by(next),
            };
            total = outcome.map_err(render_error)?;
        }
        Ok(total)
    }

    fn parse_signed(&mut self) -> Result<ExactFraction, String> {
        let mut negative = false;
        while let Some(sign) = self.consume(&['+', '-', '−', '–']) {
            negative ^= sign != '+';
        }
        let value = self.parse_operand()?;
        Ok(if negative { value.negated() } else { value })
    }

    fn parse_operand(&mut self) -> Result<ExactFraction, String> {
        match self.peek_letter() {
            None => {
                Err("something is missing at the end: write a whole expression, such as 12 * (3 + 4)"
                    .to_owned())
            }
            Some('(') => self.parse_parentheses(),
            Some(letter) if to_ascii_digit(letter).is_some() || letter == '.' => self.parse_number(),
            Some(letter) => Err(unexpected(letter)),
        }
    }

    fn parse_parentheses(&mut self) -> Result<ExactFraction, String> {
        self.letters.next();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("there are more than {DEEPEST} parentheses in each other"));
        }
        let value = self.parse_sum()?;
        self.depth -= 1;
        self.consume(&[')']).map(|_| value).ok_or_else(|| match self.peek_letter() {
            None => "a ) is missing at the end".to_owned(),
            Some(letter) => unexpected(letter),
        })
    }

    fn parse_number(&mut self) -> Result<ExactFraction, String> {
        let mut written = String::new();
        while let Some(letter) =
            self.letters.next_if(|letter| to_ascii_digit(*letter).is_some() || ".,".contains(*letter))
        {
            written.push(to_ascii_digit(letter).unwrap_or(letter));
        }
        let (whole, after) = written.split_once('.').unwrap_or((&written, ""));
        let digits = strip_grouping(whole).filter(|whole| !(whole.is_empty() && after.is_empty()));
        let (Some(whole), false) = (digits, after.contains(['.', ','])) else {
            return Err(format!("`{written}` is no number: write it like 1250.50 or 1,20,000"));
        };
        ExactFraction::from_decimal(&format!("{whole}{after}"), after.len()).map_err(render_error)
    }
}

/// Without its commas, if they stand where people put them: three digits after the last, two or three between.
fn strip_grouping(whole: &str) -> Option<String> {
    let groups: Vec<&str> = whole.split(',').collect();
    let fits = match groups.as_slice() {
        [_] => true,
        [first, between @ .., last] => {
            (1..=3).contains(&first.len())
                && last.len() == 3
                && between.iter().all(|group| (2..=3).contains(&group.len()))
        }
        [] => false,
    };
    fits.then(|| groups.concat())
}

/// The digit in the figures of any script, as a plain one.
fn to_ascii_digit(letter: char) -> Option<char> {
    let worth = |zero: char| u32::from(letter).checked_sub(u32::from(zero)).filter(|worth| *worth < 10);
    ZEROS.into_iter().find_map(worth).and_then(|worth| char::from_digit(worth, 10))
}

pub(super) fn spec() -> Result<ToolSpec, ToolNameError> {
    let what = "Calculates a written expression exactly, with + - * / % (what is left of a division) and parentheses. \
                Use it for every sum you tell somebody; do not calculate in your head.";
    let expression = json!({
        "type": "string",
        "description": "Such as 3 * 1250.50 + 18/100 * 900",
        "minLength": 1,
        "maxLength": LONGEST,
    });
    Ok(ToolSpec {
        parameters: json!({
            "type": "object",
            "properties": { "expression": expression },
            "required": ["expression"],
            "additionalProperties": false,
        }),
        reach: Reach::Anyone,
        reply: Some("sum".to_owned()),
        phrases: phrases(),
        examples: vec![ToolExample {
            language: Language::English,
            text: "calculate 12 * 45 + 8".to_owned(),
            arguments: json!({ "expression": "12 * 45 + 8" }),
        }],
        ..ToolSpec::read_only("calculate".parse()?, what, "house.sum.read")
    })
}

fn phrases() -> BTreeMap<Language, Vec<String>> {
    let said: [(Language, &[&str]); 11] = [
        (Language::English, &["calculate this", "do the sum", "work out the sum"]),
        (Language::Hindi, &["यह जोड़कर बताओ", "yeh jodkar batao", "calculate karke batao"]),
        (Language::Bengali, &["এটা যোগ করে বলো", "eta jog kore bolo"]),
        (Language::Gujarati, &["આ ગણી આપો", "aa gani aapo"]),
        (Language::Kannada, &["ಇದನ್ನು ಲೆಕ್ಕ ಮಾಡು", "idannu lekka maadu"]),
        (Language::Malayalam, &["ഇത് കണക്കാക്കൂ", "ithu kanakkaakku"]),
        (Language::Marathi, &["हे मोजून सांगा", "he mojun sanga"]),
        (Language::Odia, &["ଏହା ଗଣନା କର", "eha ganana kara"]),
        (Language::Punjabi, &["ਇਹ ਜੋੜ ਕੇ ਦੱਸੋ", "eh jod ke dasso"]),
        (Language::Tamil, &["இதைக் கணக்கிடு", "idhai kanakkidu"]),
        (Language::Telugu, &["ఇది లెక్కించు", "idi lekkinchu"]),
    ];
    said.into_iter()
        .map(|(language, texts)| (language, texts.iter().map(|text| (*text).to_owned()).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        evaluate(text).map_or_else(|what| what, |value| value.to_string())
    }

    #[test]
    fn sums_come_out_as_on_paper() {
        for (text, expected) in [
            ("0.1 + 0.2", "0.3"),
            ("12 * 45 + 8", "548"),
            ("2 + 3 * (4 - 1)", "11"),
            ("1,20,000 / 12", "10000"),
            ("1,234,567.80 - .80", "1234567"),
            ("-(2 - 5) * -2", "-6"),
            ("10 % 3", "1"),
            ("-7.5 % 2", "-1.5"),
            ("18/100 * 250", "45"),
            ("1 / 3", "0.33333333333333333333"),
            ("2 / 3", "0.66666666666666666667"),
            ("1 / 3 * 3", "1"),
            ("१२ × ३ − ௪", "32"),
            ("5 ÷ 8", "0.625"),
            ("0.00000000000000000000000000001 * 10", "0.0000000000000000000000000001"),
            ("999999999999999999 * 999999999999999999", "999999999999999998000000000000000001"),
            ("2 - 2 / 1", "0"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert!(!evaluate("1/3").unwrap().is_terminating() && evaluate("1/8").unwrap().is_terminating());
    }

    #[test]
    fn what_can_not_be_calculated_says_what_to_write() {
        for (text, expected) in [
            ("", "something is missing"),
            ("2 +", "something is missing"),
            ("2 + x", "`x` can't be calculated with"),
            ("2 ** 3", "`*` can't be"),
            ("(2 + 3", "a ) is missing"),
            ("2 + 3)", "without its ("),
            ("1 / 0", "divided by zero"),
            ("5 % (2 - 2)", "divided by zero"),
            ("18%", "for a percentage write"),
            ("18% * 200", "for a percentage write"),
            ("1,5 + 2", "is no number"),
            ("1.2.3", "is no number"),
            (".", "is no number"),
            ("2 3", "`3` can't be"),
            ("9999999999999999999999999999999999999999", "too large"),
            ("999999999999999999999 * 999999999999999999999", "too large"),
        ] {
            assert!(shown(text).contains(expected), "{text}: {}", shown(text));
        }
        assert!(shown(&"(".repeat(100)).contains("parentheses in each other"));
        assert!(shown(&"1+".repeat(300)).contains("longer than"));
    }

    proptest! {
        /// Whole numbers agree with the machine's own, and adding takes back what subtracting took.
        #[test]
        fn whole_numbers_agree(a in -1_000_000i64..1_000_000, b in -1_000_000i64..1_000_000, c in 1i64..1000) {
            prop_assert_eq!(shown(&format!("{a} + {b} * {c}")), (a + b * c).to_string());
            prop_assert_eq!(shown(&format!("({a} - {b}) + {b}")), a.to_string());
            prop_assert_eq!(shown(&format!("({a}) % {c}")), (a % c).to_string());
            prop_assert_eq!(shown(&format!("{a} / {c} * {c}")), a.to_string());
        }

        #[test]
        fn nothing_written_breaks_it(text in "[0-9+*/%().,x −-]{0,40}") {
            let _answer = evaluate(&text);
        }
    }
}
