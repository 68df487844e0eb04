//! The names people give: the `sonnet` of `[models.sonnet]`.
//!
//! A variable has no dashes, so `MUNSHI__MODELS__GPT_MINI__KEY` means `gpt-mini` where the file has that name, and
//! `gpt_mini` where it has neither. Two underscores would end the name, so no name has them.

use munshi_toml::QuotedValue;

use crate::problem::{ConfigProblem, SettingOrigin};

/// A name, and where it was first written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionInstance {
    pub(crate) section: &'static str,
    pub(crate) name: String,
    pub(crate) place: SettingOrigin,
}

/// The target that is always there; nobody else may have its name.
pub const OFFLINE: &str = "offline";

const LONGEST: usize = 60;

/// Why it can't be a name, if it can't.
pub(crate) fn validate(section: &str, name: &str, place: &SettingOrigin) -> Option<ConfigProblem> {
    let (what, hint) = if name == OFFLINE {
        (
            format!("{} is reserved for the built-in model", QuotedValue(name)),
            "choose another name; [routes] can use `offline` without a section".to_owned(),
        )
    } else if is_name(name) {
        return None;
    } else {
        let rule = "use lowercase letters and digits, with single dashes or underscores between";
        let hint = match suggest_name(name) {
            Some(mended) => format!("{rule}: [{section}.{mended}]"),
            None => format!("{rule}, such as [{section}.sonnet]"),
        };
        (format!("{} is not a valid name", QuotedValue(name)), hint)
    };
    Some(ConfigProblem { place: place.clone(), key: None, what, hint: Some(hint) })
}

/// Whether the two are one in a variable.
pub(crate) fn is_equivalent(one: &str, other: &str) -> bool {
    normalise(one) == normalise(other)
}

fn is_name(text: &str) -> bool {
    let good = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    text.len() <= LONGEST && text.split(['-', '_']).all(|part| !part.is_empty() && part.chars().all(good))
}

/// What was probably meant: `GPT 4.1` as `gpt-4-1`.
fn suggest_name(text: &str) -> Option<String> {
    let text: String = text.chars().take(LONGEST).collect::<String>().to_lowercase();
    let parts: Vec<&str> =
        text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let mended = parts.join("-");
    (is_name(&mended) && mended != OFFLINE).then_some(mended)
}

fn normalise(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> Option<String> {
        validate("models", name, &SettingOrigin::Default).map(|problem| problem.hint.unwrap_or_default())
    }

    #[test]
    fn plain_names_are_good_and_others_are_mended() {
        for good in ["sonnet", "gpt-4-1", "gpt_4_1", "7b", "a"] {
            assert_eq!(refused(good), None, "{good}");
        }
        for (bad, mended) in [("GPT 4.1", "gpt-4-1"), ("a__b", "a-b"), ("-x", "x"), ("x_", "x")] {
            assert!(refused(bad).unwrap().ends_with(&format!("[models.{mended}]")), "{bad}");
        }
        for bad in ["", "नमस्ते", "_", "offline", &"x".repeat(61)] {
            assert!(refused(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_variable_knows_no_dash() {
        assert!(is_equivalent("gpt-4_1", "gpt_4-1") && !is_equivalent("gpt-4", "gpt4"));
    }
}
