//! The words dates, times and lists need, in each voice.

use munshi_types::Language;

use super::Locale;
use crate::detect::ScriptForm;

/// The parts of the day, and what stands after the hour.
pub(super) struct ClockWords {
    pub morning: &'static str,
    pub noon: &'static str,
    pub evening: &'static str,
    pub night: &'static str,
    pub hour: &'static str,
}

const fn parts(
    morning: &'static str,
    noon: &'static str,
    evening: &'static str,
    night: &'static str,
    hour: &'static str,
) -> ClockWords {
    ClockWords { morning, noon, evening, night, hour }
}

pub(super) fn clock_words(voice: Locale) -> ClockWords {
    use Language::{
        Bengali, English, Gujarati, Hindi, Kannada, Malayalam, Marathi, Odia, Punjabi, Tamil, Telugu,
    };
    match (voice.language, voice.form) {
        (English, _) => parts("morning", "afternoon", "evening", "night", ""),
        (Hindi, ScriptForm::Native) => parts("सुबह", "दोपहर", "शाम", "रात", "बजे"),
        (Hindi, ScriptForm::Latin) => parts("subah", "dopahar", "shaam", "raat", "baje"),
        (Marathi, ScriptForm::Native) => parts("सकाळी", "दुपारी", "संध्याकाळी", "रात्री", "वाजता"),
        (Marathi, ScriptForm::Latin) => parts("sakali", "dupari", "sandhyakali", "ratri", "vajta"),
        (Gujarati, ScriptForm::Native) => parts("સવારે", "બપોરે", "સાંજે", "રાત્રે", "વાગ્યે"),
        (Gujarati, ScriptForm::Latin) => parts("savare", "bapore", "sanje", "ratre", "vagye"),
        (Punjabi, ScriptForm::Native) => parts("ਸਵੇਰੇ", "ਦੁਪਹਿਰ", "ਸ਼ਾਮ", "ਰਾਤ", "ਵਜੇ"),
        (Punjabi, ScriptForm::Latin) => parts("savere", "dupahir", "shaam", "raat", "vaje"),
        (Bengali, ScriptForm::Native) => parts("সকাল", "দুপুর", "বিকেল", "রাত", "টায়"),
        (Bengali, ScriptForm::Latin) => parts("shokal", "dupur", "bikel", "raat", "tay"),
        (Odia, ScriptForm::Native) => parts("ସକାଳ", "ଦ୍ୱିପ୍ରହର", "ସନ୍ଧ୍ୟା", "ରାତି", "ଟାରେ"),
        (Odia, ScriptForm::Latin) => parts("sakala", "dwiprahara", "sandhya", "rati", "tare"),
        (Tamil, ScriptForm::Native) => parts("காலை", "மதியம்", "மாலை", "இரவு", "மணிக்கு"),
        (Tamil, ScriptForm::Latin) => parts("kaalai", "madhiyam", "maalai", "iravu", "manikku"),
        (Telugu, ScriptForm::Native) => parts("ఉదయం", "మధ్యాహ్నం", "సాయంత్రం", "రాత్రి", "గంటలకు"),
        (Telugu, ScriptForm::Latin) => parts("udayam", "madhyahnam", "sayantram", "rathri", "gantalaku"),
        (Kannada, ScriptForm::Native) => parts("ಬೆಳಿಗ್ಗೆ", "ಮಧ್ಯಾಹ್ನ", "ಸಂಜೆ", "ರಾತ್ರಿ", "ಗಂಟೆಗೆ"),
        (Kannada, ScriptForm::Latin) => parts("belagge", "madhyahna", "sanje", "raatri", "gantege"),
        (Malayalam, ScriptForm::Native) => parts("രാവിലെ", "ഉച്ചയ്ക്ക്", "വൈകിട്ട്", "രാത്രി", "മണിക്ക്"),
        (Malayalam, ScriptForm::Latin) => parts("ravile", "uchakku", "vaikittu", "rathri", "manikku"),
    }
}

/// What joins the last two of a list.
pub(super) fn conjunction(voice: Locale) -> &'static str {
    use Language::{
        Bengali, English, Gujarati, Hindi, Kannada, Malayalam, Marathi, Odia, Punjabi, Tamil, Telugu,
    };
    match (voice.language, voice.form) {
        (English, _) => "and",
        (Hindi, ScriptForm::Native) => "और",
        (Hindi, ScriptForm::Latin) => "aur",
        (Marathi, ScriptForm::Native) => "आणि",
        (Marathi, ScriptForm::Latin) => "aani",
        (Gujarati, ScriptForm::Native) => "અને",
        (Gujarati, ScriptForm::Latin) => "ane",
        (Punjabi, ScriptForm::Native) => "ਅਤੇ",
        (Punjabi, ScriptForm::Latin) => "ate",
        (Bengali, ScriptForm::Native) => "এবং",
        (Bengali, ScriptForm::Latin) => "ebong",
        (Odia, ScriptForm::Native) => "ଏବଂ",
        (Odia, ScriptForm::Latin) => "ebang",
        (Tamil, ScriptForm::Native) => "மற்றும்",
        (Tamil, ScriptForm::Latin) => "mattrum",
        (Telugu, ScriptForm::Native) => "మరియు",
        (Telugu, ScriptForm::Latin) => "mariyu",
        (Kannada, ScriptForm::Native) => "ಮತ್ತು",
        (Kannada, ScriptForm::Latin) => "mattu",
        (Malayalam, ScriptForm::Native) => "കൂടാതെ",
        (Malayalam, ScriptForm::Latin) => "koodathe",
    }
}

/// A month's name; 1 is January.
pub(super) fn month_name(voice: Locale, month: i8) -> &'static str {
    use Language::{Bengali, Gujarati, Hindi, Kannada, Malayalam, Marathi, Odia, Punjabi, Tamil, Telugu};
    let names = match (voice.language, voice.form) {
        (Hindi, ScriptForm::Native) => &HINDI,
        (Marathi, ScriptForm::Native) => &MARATHI,
        (Gujarati, ScriptForm::Native) => &GUJARATI,
        (Punjabi, ScriptForm::Native) => &PUNJABI,
        (Bengali, ScriptForm::Native) => &BENGALI,
        (Odia, ScriptForm::Native) => &ODIA,
        (Tamil, ScriptForm::Native) => &TAMIL,
        (Telugu, ScriptForm::Native) => &TELUGU,
        (Kannada, ScriptForm::Native) => &KANNADA,
        (Malayalam, ScriptForm::Native) => &MALAYALAM,
        _ => &ENGLISH,
    };
    usize::try_from(month - 1).ok().and_then(|at| names.get(at)).copied().unwrap_or_default()
}

type Months = [&'static str; 12];

const ENGLISH: Months = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const HINDI: Months =
    ["जनवरी", "फ़रवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर", "अक्टूबर", "नवंबर", "दिसंबर"];
const MARATHI: Months =
    ["जानेवारी", "फेब्रुवारी", "मार्च", "एप्रिल", "मे", "जून", "जुलै", "ऑगस्ट", "सप्टेंबर", "ऑक्टोबर", "नोव्हेंबर", "डिसेंबर"];
const GUJARATI: Months =
    ["જાન્યુઆરી", "ફેબ્રુઆરી", "માર્ચ", "એપ્રિલ", "મે", "જૂન", "જુલાઈ", "ઓગસ્ટ", "સપ્ટેમ્બર", "ઓક્ટોબર", "નવેમ્બર", "ડિસેમ્બર"];
const PUNJABI: Months =
    ["ਜਨਵਰੀ", "ਫਰਵਰੀ", "ਮਾਰਚ", "ਅਪ੍ਰੈਲ", "ਮਈ", "ਜੂਨ", "ਜੁਲਾਈ", "ਅਗਸਤ", "ਸਤੰਬਰ", "ਅਕਤੂਬਰ", "ਨਵੰਬਰ", "ਦਸੰਬਰ"];
const BENGALI: Months = [
    "জানুয়ারি",
    "ফেব্রুয়ারি",
    "মার্চ",
    "এপ্রিল",
    "মে",
    "জুন",
    "জুলাই",
    "আগস্ট",
    "সেপ্টেম্বর",
    "অক্টোবর",
    "নভেম্বর",
    "ডিসেম্বর",
];
const ODIA: Months =
    ["ଜାନୁଆରୀ", "ଫେବୃଆରୀ", "ମାର୍ଚ୍ଚ", "ଅପ୍ରେଲ", "ମଇ", "ଜୁନ", "ଜୁଲାଇ", "ଅଗଷ୍ଟ", "ସେପ୍ଟେମ୍ବର", "ଅକ୍ଟୋବର", "ନଭେମ୍ବର", "ଡିସେମ୍ବର"];
const TAMIL: Months =
    ["ஜனவரி", "பிப்ரவரி", "மார்ச்", "ஏப்ரல்", "மே", "ஜூன்", "ஜூலை", "ஆகஸ்ட்", "செப்டம்பர்", "அக்டோபர்", "நவம்பர்", "டிசம்பர்"];
const TELUGU: Months =
    ["జనవరి", "ఫిబ్రవరి", "మార్చి", "ఏప్రిల్", "మే", "జూన్", "జూలై", "ఆగస్టు", "సెప్టెంబర్", "అక్టోబర్", "నవంబర్", "డిసెంబర్"];
const KANNADA: Months =
    ["ಜನವರಿ", "ಫೆಬ್ರವರಿ", "ಮಾರ್ಚ್", "ಏಪ್ರಿಲ್", "ಮೇ", "ಜೂನ್", "ಜುಲೈ", "ಆಗಸ್ಟ್", "ಸೆಪ್ಟೆಂಬರ್", "ಅಕ್ಟೋಬರ್", "ನವೆಂಬರ್", "ಡಿಸೆಂಬರ್"];
const MALAYALAM: Months = [
    "ജനുവരി",
    "ഫെബ്രുവരി",
    "മാർച്ച്",
    "ഏപ്രിൽ",
    "മേയ്",
    "ജൂൺ",
    "ജൂലൈ",
    "ഓഗസ്റ്റ്",
    "സെപ്റ്റംബർ",
    "ഒക്ടോബർ",
    "നവംബർ",
    "ഡിസംബർ",
];
