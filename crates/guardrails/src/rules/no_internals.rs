//! What machines say to each other is not shown: ids, JSON, SQL, traces.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::letters::is_unseen;
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};
use crate::shapes::compile_any;
use crate::tokens::GuardrailTokenList;

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("no-internals"),
        tier: GuardrailTier::Agent,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never show internal ids, JSON, SQL, code or error traces."),
        phrase: "guard-not-shared",
        check: GuardrailCheck::Sentences(check),
    }
}

static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        // Ids: UUIDs, long hex, ULIDs, and the short prefixed ones of programs.
        r"(?i)\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b",
        r"\b[0-9a-f]{24,64}\b",
        r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b",
        r"\b(?:usr|user|cus|cust|ord|order|pay|txn|sess|session|req|conv|msg|run|acct|org|tenant|binding|agent|sub|inv|evt|tool|call|job|doc|emb|plink|lead|tkt)_[A-Za-z0-9]*[0-9][A-Za-z0-9]*",
        r"(?i)\b(?:tenant|user|session|binding|agent|customer|order|request|row|person|message|conversation|account|team|human|trace|run)_?ids?\s*[=:]\s*\S+",
        // JSON, also cut out of its braces, and what asks a tool.
        r#"\{\s*["'“][\w .-]+["'”]\s*:"#,
        r#"["“][A-Za-z_][\w-]*["”]\s*:\s*(?:["“\[{]|-?\d|true\b|false\b|null\b)"#,
        r#"\[\s*\{|\}\s*,\s*\{|\[\s*["'][^"']*["']\s*,\s*["']"#,
        r"(?i)</?(?:tool_call|tool|function|thinking|system|result|json|invoke|parameter)[\s>_=]",
        r"\b[a-z]+(?:_[a-z]+)+\s*\(",
        r"(?i)\btool_calls?\b|\bfunction_call\b|\bfinish_reason\b",
        // SQL: written in capitals, or with a table and what only SQL says.
        r"\b(?:SELECT|INSERT|UPDATE|DELETE|DROP|ALTER|CREATE|TRUNCATE)\b[^.?!]{0,80}\b(?:FROM|INTO|SET|TABLE|WHERE|VALUES|DATABASE|INDEX)\b",
        r"(?i)\bselect\s+(?:\*|count\s*\(|[\w.]+(?:\s*,\s*[\w.]+)+)[^.?!]{0,60}\sfrom\s+\w",
        r"(?i)\bselect\s+[\w.,\s*()]{1,60}\sfrom\s+\w+\s+(?:where|limit|join|order\s+by|group\s+by|inner|left)\b",
        r"(?i)\binsert\s+into\s+\w+\s*(?:\(|values)|\bupdate\s+\w+\s+set\s+\w+\s*=|\bdelete\s+from\s+\w+\s*(?:where|;)",
        r"(?i)\b(?:drop|truncate|alter|create)\s+(?:table|database|schema|index)\s+\w|\bwhere\s+\w+\s*(?:=|<|>|like\b|in\s*\()",
        // What a program says when it breaks.
        r"(?i)\btraceback \(most recent|\bstack ?trace\b|\bat [\w$.]+\([\w.]+:\d+\)|\b\w+(?:Error|Exception):\s|\bthread '\w+' panicked|\bnull ?pointer\b|\bundefined is not\b|\bECONN[A-Z]+\b",
        r"(?i)\bHTTP/?\d?(?:\.\d)?\s+[45]\d\d\b|\bstatus[_ ]code\s*[=:]?\s*\d{3}\b",
        r"```",
    ];
    compile_any(&shapes)
});

/// The shortest letters that are an id by themselves.
const SHORTEST_HEX: usize = 24;

/// Whether any of the shapes can be there: all but a few have a digit or a sign that plain talk lacks, and those few
/// have one of some words.
fn may_show(tokens: &GuardrailTokenList) -> bool {
    let traits = tokens.traits;
    let telling = |at: usize| {
        let word = tokens.spelling(at);
        word.len() >= SHORTEST_HEX
            || ["stack", "null", "econn"].iter().any(|start| word.starts_with(start))
            || matches!(
                word,
                "select"
                    | "insert"
                    | "update"
                    | "delete"
                    | "drop"
                    | "alter"
                    | "create"
                    | "truncate"
                    | "where"
                    | "undefined"
            )
    };
    traits.unseen
        || traits.digits
        || traits.has_sign("`{}[]<>_(*=:\"'")
        || (0..tokens.len()).any(|at| tokens[at].is_latin() && telling(at))
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let Some(shapes) = SHAPES.as_ref() else { return Vec::new() };
    if !may_show(&view.reading.tokens) {
        return Vec::new();
    }
    let what = "ids, code or data of the program";
    if !view.reading.tokens.traits.unseen {
        return shapes.find_iter(view.text).map(|one| GuardrailFinding::new(one.range(), what)).collect();
    }
    let seen: String = view.text.chars().filter(|letter| !is_unseen(*letter)).collect();
    // The way back is not kept: the whole of it goes.
    if shapes.is_match(&seen) { vec![GuardrailFinding::new(0..view.text.len(), what)] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::{caught, passed};

    #[test]
    fn what_machines_say_is_caught() {
        caught(
            "no-internals",
            &[
                "Your order is 018f3c2e-7b1a-7c3d-9e4f-0a1b2c3d4e5f.",
                "Here: {\"sku\": \"R-2241\", \"price\": 499}",
                "I ran SELECT * FROM orders.",
                "I ran s\u{200B}elect name, phone from users where id = 5.",
                "KeyError: 'price'",
                "usr_8f3kd92 is yours.",
            ],
        );
    }

    #[test]
    fn what_people_say_is_free() {
        passed(
            "no-internals",
            &[
                "Please select an item from the list.",
                "Your order number is R-2241.",
                "We will update your address and set a reminder.",
                "Drop it at the table near the door.",
                "Write to care_team@shop.in.",
                "Create a table booking for four.",
            ],
        );
    }
}
