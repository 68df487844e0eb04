//! What the tools say of themselves, from the files in `tools/`.
//!
//! `about`, `scope` and `reply` are the specification's own; `writes` stands alone where a tool writes, and `owner` where it
//! does so on the owner's word alone; `sends = FIELD` where it writes to whoever that argument names, `sends = FIELD by FIELD to AUDIENCE` where a template has the words; `needs no model` where it is called and told by templates when it is plainly asked for; `field NAME = KIND[, required]` is an argument. `LANGUAGE = PHRASE; PHRASE` has what people say, where braces stand for arguments,
//! and `LANGUAGE example = SENTENCE | ITEM; …` becomes an example with that item as its argument.

use munshi_types::word_list::{WordListLine, read_lines};
use munshi_types::{Autonomy, Effect, Language, Reach, SendArguments, ToolExample, ToolName, ToolSpec};
use serde_json::{Map, Value, json};

/// The specification in a file; what can't be read of it is said.
pub(super) fn read(name: &str, text: &str) -> Result<ToolSpec, String> {
    let bad = |line: &str| format!("tools/{name}.txt has an invalid line: {line}");
    let tool: ToolName = name.parse().map_err(|error: munshi_types::ToolNameError| error.to_string())?;
    let mut spec = ToolSpec { reach: Reach::Business, ..ToolSpec::read_only(tool, "", "") };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for WordListLine { text: line, .. } in read_lines(text) {
        if line == "writes" {
            spec.effect = Effect::Inside;
            spec.least_autonomy = Autonomy::Propose;
            continue;
        }
        if line == "needs no model" {
            spec.needs_no_model = true;
            continue;
        }
        if line == "owner" {
            spec.owner_only = true;
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
            None => apply_attribute(&mut spec, head, rest).ok_or_else(|| bad(line))?,
        }
    }
    spec.parameters = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    Ok(spec)
}

fn apply_attribute(spec: &mut ToolSpec, head: &str, rest: &str) -> Option<()> {
    match head {
        "about" => rest.clone_into(&mut spec.description),
        "scope" => rest.clone_into(&mut spec.scope),
        "sends" => spec.sends = Some(parse_sends(rest)?),
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

/// `person`, or `person by template to contacts` where the words are a template's, for all of an audience.
fn parse_sends(rest: &str) -> Option<SendArguments> {
    let words: Vec<&str> = rest.split(' ').collect();
    let (to, template, audience) = match words.as_slice() {
        [to] => (to, None, None),
        [to, "by", template, "to", audience] => (to, Some(template), Some(audience)),
        _ => return None,
    };
    let owned = |word: Option<&&str>| word.map(|word| (*word).to_owned());
    Some(SendArguments { to: (*to).to_owned(), template: owned(template), audience: owned(audience) })
}

/// How money can be paid, and what people call it.
const MEANS: [(&str, &str); 4] = [
    (
        "upi",
        // Any way from one account to another.
        "gpay, google pay, phonepe, paytm, bhim, transfer, transferred, neft, imps, rtgs, online, net banking, netbanking, \
         ट्रांसफर, ट्रान्सफर, ऑनलाइन, ট্রান্সফার, অনলাইন, ટ્રાન્સફર, ઓનલાઇન, ಟ್ರಾನ್ಸ್ಫರ್, ಆನ್‌ಲೈನ್, ട്രാൻസ്ഫർ, ഓൺലൈൻ, ଟ୍ରାନ୍ସଫର, ଅନଲାଇନ, \
         ਟ੍ਰਾਂਸਫਰ, ਔਨਲਾਈਨ, டிரான்ஸ்பர், ஆன்லைன், ట్రాన్స్ఫర్, ఆన్లైన్, यूपीआई, ಯುಪಿಐ, యూపీఐ, யுபிஐ, ইউপিআই, યુપીઆઈ, ਯੂਪੀਆਈ, യുപിഐ, ୟୁପିଆଇ",
    ),
    ("cash", "nakad, nagad, rokda, rokh, नकद, नगद, रोख, নগদ, રોકડા, ನಗದು, ரொக்கம், నగదు, ਨਕਦ, പണമായി, ନଗଦ"),
    ("card", "कार्ड"),
    ("cheque", "check, चेक"),
];

/// What was lent or borrowed, and by which words money is known.
const LENT: [(&str, &str); 2] = [
    // Words for wares, such as maal, name what was given.
    ("wares", "wares"),
    (
        "money",
        "loan, lent, lend, borrowed, borrow, karz, karza, karj, cash, nakad, nagad, rokda, rokh, लोन, कर्ज, कर्ज़, क़र्ज़, नकद, \
         नगद, रोख, লোন, ঋণ, নগদ, લોન, કરજ, રોકડા, ಲೋನ್, ನಗದು, ലോൺ, വായ്പ, ଲୋନ, ଋଣ, ନଗଦ, ਲੋਨ, ਕਰਜ਼ਾ, ਨਕਦ, லோன், ரொக்கம், లోన్, \
         నగదు",
    ),
];

/// Languages a message can be written in, and what people call them.
const LANGUAGES: [(&str, &str); 11] = [
    ("en", "english, angrezi, अंग्रेजी"),
    ("hi", "hindi, हिंदी, हिन्दी"),
    ("bn", "bengali, bangla, बंगाली, বাংলা"),
    ("gu", "gujarati, गुजराती, ગુજરાતી"),
    ("kn", "kannada, कन्नड़, ಕನ್ನಡ, ಕನ್ನಡದಲ್ಲಿ"),
    ("ml", "malayalam, मलयालम, മലയാളം, മലയാളത്തിൽ"),
    ("mr", "marathi, मराठी, मराठीत"),
    ("or", "odia, oriya, ओड़िया, ଓଡ଼ିଆ"),
    ("pa", "punjabi, पंजाबी, ਪੰਜਾਬੀ"),
    ("ta", "tamil, तमिल, தமிழ், தமிழில்"),
    ("te", "telugu, तेलुगु, తెలుగు, తెలుగులో"),
];

/// How a shop stands to GST.
const SCHEMES: [(&str, &str); 3] =
    [("regular", "normal"), ("composition", "composite, कंपोजीशन"), ("unregistered", "not registered")];

/// One of several values, each with what people call it.
fn choice(values: &[(&str, &str)], description: &str) -> Value {
    let words: Map<String, Value> = values
        .iter()
        .map(|(value, words)| ((*value).to_owned(), words.split(", ").collect::<Vec<_>>().into()))
        .collect();
    let values: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
    json!({ "enum": values, "words": words, "description": description })
}

fn property(kind: &str) -> Value {
    match kind {
        "money" => json!({
            "type": "integer", "format": "money", "description": "In paise: ₹500 is 50000.",
        }),
        "quantity" => {
            json!({ "type": "number", "format": "quantity", "description": "At most three decimals." })
        }
        // A bare number in a message fills it, as it does a quantity.
        "number" => json!({
            "type": "integer", "format": "quantity", "description": "An entry's number, where it was said.",
        }),
        "means" => choice(&MEANS, "How it was paid; cash unless said. A transfer of any kind is upi."),
        "lent" => choice(&LENT, "Money only where money itself was lent or borrowed; else wares."),
        "language" => choice(&LANGUAGES, "The one to write in, where it was said."),
        "reminder" => {
            json!({ "enum": ["payment-due"], "description": "The shop's own words of what is owed." })
        }
        "scheme" => choice(&SCHEMES, "How the shop stands to GST."),
        "period" => json!({
            "type": "string", "format": "period",
            "description": "One of today, yesterday, this_week, last_week, this_month, last_month, this_year, last_year.",
        }),
        "person" => {
            json!({ "type": "string", "format": "person", "description": "The name as it was said." })
        }
        // `when` tells the offline model which of two readings is meant: what was, not what comes.
        "date" => json!({
            "type": "string", "format": "date", "when": "past",
            "description": "The day it was, as 2026-11-15, if not today.",
        }),
        "sentence" => json!({
            "type": "string", "format": "sentence", "description": "Leave it out where the other fields say it.",
        }),
        "email" => json!({ "type": "string", "description": "An e-mail address, as it was said." }),
        "words" => {
            json!({ "type": "string", "description": "To the letter: what is approved is what is sent." })
        }
        "rate" => json!({ "type": "string", "description": "In percent: 5% or 0.25%." }),
        other => json!({ "type": "string", "format": other }),
    }
}

fn example(language: Language, line: &str) -> Option<ToolExample> {
    let (text, item) = line.split_once('|')?;
    let arguments = json!({ "item": item.trim() });
    Some(ToolExample { language, text: text.trim().to_owned(), arguments })
}
