//! What the tools say of themselves, from the files in `tools/`.
//!
//! `about`, `scope` and `reply` are the specification's own; `writes` stands alone where a tool writes; `field NAME =
//! KIND[, required]` is an argument. `LANGUAGE = PHRASE; PHRASE` has what people say, where braces stand for arguments,
//! and `LANGUAGE example = SENTENCE | ITEM; …` becomes an example with that item as its argument.

use munshi_types::{Autonomy, Effect, Language, Reach, ToolExample, ToolName, ToolSpec};
use serde_json::{Map, Value, json};

/// The specification in a file; what can't be read of it is said.
pub(super) fn read(name: &str, text: &str) -> Result<ToolSpec, String> {
    let bad = |line: &str| format!("tools/{name}.txt has a line that can't be read: {line}");
    let tool: ToolName = name.parse().map_err(|error: munshi_types::ToolNameError| error.to_string())?;
    let mut spec = ToolSpec { reach: Reach::Business, ..ToolSpec::read(tool, "", "") };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line == "writes" {
            spec.effect = Effect::Inside;
            spec.least_autonomy = Autonomy::Propose;
            continue;
        }
        let (head, rest) = line.split_once(" = ").ok_or_else(|| bad(line))?;
        match head.split_once(' ') {
            Some(("field", field)) => {
                let (kind, is_required) =
                    rest.strip_suffix(", required").map_or((rest, false), |kind| (kind, true));
                properties.insert(field.to_owned(), property(kind));
                if is_required {
                    required.push(field);
                }
            }
            Some((code, "example")) => {
                let language = code.parse().map_err(|_| bad(line))?;
                for one in rest.split(';') {
                    spec.examples.push(example(language, one).ok_or_else(|| bad(line))?);
                }
            }
            Some(_) => return Err(bad(line)),
            None => own(&mut spec, head, rest).ok_or_else(|| bad(line))?,
        }
    }
    spec.parameters = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    Ok(spec)
}

fn own(spec: &mut ToolSpec, head: &str, rest: &str) -> Option<()> {
    match head {
        "about" => rest.clone_into(&mut spec.description),
        "scope" => rest.clone_into(&mut spec.scope),
        "reply" => spec.reply = Some(rest.to_owned()),
        "next" => {
            spec.follow_ups = rest.split(';').map(|name| name.trim().parse().ok()).collect::<Option<_>>()?;
        }
        code => {
            let phrases = rest.split(';').map(|phrase| phrase.trim().to_owned());
            spec.phrases.entry(code.parse().ok()?).or_default().extend(phrases);
        }
    }
    Some(())
}

/// How money can be paid, and what people call it.
const MEANS: [(&str, &str); 4] = [
    (
        "upi",
        "gpay, google pay, phonepe, paytm, bhim, यूपीआई, ಯುಪಿಐ, యూపీఐ, யுபிஐ, ইউপিআই, યુપીઆઈ, ਯੂਪੀਆਈ, യുപിഐ, ୟୁପିଆଇ",
    ),
    ("cash", "nakad, nagad, rokda, rokh, नकद, नगद, रोख, নগদ, રોકડા, ನಗದು, ரொக்கம், నగదు, ਨਕਦ, പണമായി, ନଗଦ"),
    ("card", "कार्ड"),
    ("cheque", "check, चेक"),
];

fn property(kind: &str) -> Value {
    match kind {
        "money" => json!({
            "type": "integer", "format": "money", "description": "In paise: ₹500 is 50000.",
        }),
        "quantity" => {
            json!({ "type": "number", "format": "quantity", "description": "At most three decimals." })
        }
        "means" => {
            let words: Map<String, Value> = MEANS
                .iter()
                .map(|(means, words)| ((*means).to_owned(), words.split(", ").collect::<Vec<_>>().into()))
                .collect();
            let means: Vec<&str> = MEANS.iter().map(|(means, _)| *means).collect();
            json!({ "enum": means, "words": words, "description": "How it was paid; cash unless said." })
        }
        "period" => json!({
            "type": "string", "format": "period",
            "description": "One of today, yesterday, this_week, last_week, this_month, last_month, this_year, last_year.",
        }),
        "person" => {
            json!({ "type": "string", "format": "person", "description": "The name as it was said." })
        }
        "date" => json!({ "type": "string", "format": "date", "description": "When it was, if not today." }),
        other => json!({ "type": "string", "format": other }),
    }
}

fn example(language: Language, line: &str) -> Option<ToolExample> {
    let (text, item) = line.split_once('|')?;
    let arguments = json!({ "item": item.trim() });
    Some(ToolExample { language, text: text.trim().to_owned(), arguments })
}
