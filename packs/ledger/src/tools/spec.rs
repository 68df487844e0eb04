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

/// Languages a message can be written in, and what people call them.
const LANGUAGES: [(&str, &str); 11] = [
    ("en", "english, angrezi, अंग्रेजी, ইংরেজি, અંગ્રેજી, ಇಂಗ್ಲಿಷ್, ഇംഗ്ലീഷ്, इंग्रजी, ଇଂରାଜୀ, ਅੰਗਰੇਜ਼ੀ, ஆங்கிலம், ఇంగ్లీష్"),
    ("hi", "hindi, हिंदी, हिन्दी, হিন্দি, હિન્દી, ಹಿಂದಿ, ഹിന്ദി, ହିନ୍ଦୀ, ਹਿੰਦੀ, இந்தி, హిందీ"),
    ("bn", "bengali, bangla, बंगाली, বাংলা, બંગાળી, ಬಂಗಾಳಿ, ബംഗാളി, ବଙ୍ଗଳା, ਬੰਗਾਲੀ, வங்காளம், బెంగాలీ"),
    ("gu", "gujarati, गुजराती, গুজরাটি, ગુજરાતી, ಗುಜರಾತಿ, ഗുജറാത്തി, ଗୁଜୁରାଟୀ, ਗੁਜਰਾਤੀ, குஜராத்தி, గుజరాతీ"),
    ("kn", "kannada, कन्नड़, কন্নড়, કન્નડ, ಕನ್ನಡ, ಕನ್ನಡದಲ್ಲಿ, കന്നഡ, कन्नड, କନ୍ନଡ, ਕੰਨੜ, கன்னடம், కన్నడ"),
    ("ml", "malayalam, मलयालम, মালয়ালম, મલયાલમ, ಮಲಯಾಳಂ, മലയാളം, മലയാളത്തിൽ, ମାଲାୟାଲମ, ਮਲਿਆਲਮ, மலையாளம், మలయాళం"),
    ("mr", "marathi, मराठी, मराठीत, মারাঠি, મરાઠી, ಮರಾಠಿ, മറാത്തി, ମରାଠୀ, ਮਰਾਠੀ, மராத்தி, మరాఠీ"),
    ("or", "odia, oriya, ओड़िया, ওড়িয়া, ઓડિયા, ಒಡಿಯಾ, ഒഡിയ, ओडिया, ଓଡ଼ିଆ, ਉੜੀਆ, ஒடியா, ఒడియా"),
    ("pa", "punjabi, पंजाबी, পাঞ্জাবি, પંજાબી, ಪಂಜಾಬಿ, പഞ്ചാബി, ପଞ୍ଜାବୀ, ਪੰਜਾਬੀ, பஞ்சாபி, పంజాబీ"),
    ("ta", "tamil, तमिल, তামিল, તમિલ, ತಮಿಳು, തമിഴ്, तमिळ, ତାମିଲ, ਤਾਮਿਲ, தமிழ், தமிழில், తమిళం"),
    ("te", "telugu, तेलुगु, তেলুগু, તેલુગુ, ತೆಲುಗು, തെലുങ്ക്, तेलुगू, ତେଲୁଗୁ, ਤੇਲਗੂ, தெலுங்கு, తెలుగు, తెలుగులో"),
];

/// How a shop stands to GST.
const SCHEMES: [(&str, &str); 3] = [
    ("regular", "normal, रेगुलर"),
    ("composition", "composite, कंपोजीशन, কম্পোজিশন, કમ્પોઝિશન, ಕಾಂಪೊಸಿಷನ್, കോമ്പോസിഷൻ, ਕੰਪੋਜ਼ੀਸ਼ਨ, காம்போசிஷன், కాంపోజిషన్"),
    ("unregistered", "not registered"),
];

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
        "means" => choice(&MEANS, "How it was paid; cash unless said."),
        "language" => choice(&LANGUAGES, "The one to write in, where it was said."),
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
        "rate" => json!({ "type": "string", "description": "In percent: 5% or 0.25%." }),
        other => json!({ "type": "string", "format": other }),
    }
}

fn example(language: Language, line: &str) -> Option<ToolExample> {
    let (text, item) = line.split_once('|')?;
    let arguments = json!({ "item": item.trim() });
    Some(ToolExample { language, text: text.trim().to_owned(), arguments })
}
