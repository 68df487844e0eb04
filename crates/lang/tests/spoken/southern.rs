//! The southern languages: tens, units and scales that change shape before what follows.

use munshi_types::Language;

/// A number as the language says it; `open` when more of it follows.
struct Grammar {
    below_hundred: fn(usize) -> String,
    hundreds: fn(usize, bool) -> String,
    /// How many thousands, lakhs or crores, with the scale.
    thousands: fn(&str, u64, bool) -> String,
    lakhs: fn(&str, u64, bool) -> String,
    crores: fn(&str, u64, bool) -> String,
}

pub(crate) fn say(number: u64, language: Language) -> String {
    let grammar = match language {
        Language::Tamil => TAMIL,
        Language::Telugu => TELUGU,
        Language::Kannada => KANNADA,
        _ => MALAYALAM,
    };
    if number == 0 {
        return (grammar.below_hundred)(0);
    }
    let mut said: Vec<String> = Vec::new();
    let (crores, lakhs, thousands) = (number / 10_000_000, number / 100_000 % 100, number / 1_000 % 100);
    let scaled = [
        (crores, number % 10_000_000, grammar.crores),
        (lakhs, number % 100_000, grammar.lakhs),
        (thousands, number % 1_000, grammar.thousands),
    ];
    for (count, rest, name) in scaled {
        if count > 0 {
            said.push(name(&below_thousand(&grammar, count), count, rest > 0));
        }
    }
    if !number.is_multiple_of(1_000) {
        said.push(below_thousand(&grammar, number % 1_000));
    }
    said.join(" ")
}

fn below_thousand(grammar: &Grammar, number: u64) -> String {
    let number = usize::try_from(number).unwrap_or_default();
    let (hundreds, rest) = (number / 100, number % 100);
    match (hundreds, rest) {
        (0, rest) => (grammar.below_hundred)(rest),
        (hundreds, 0) => (grammar.hundreds)(hundreds, false),
        (hundreds, rest) => {
            format!("{} {}", (grammar.hundreds)(hundreds, true), (grammar.below_hundred)(rest))
        }
    }
}

fn pick(list: &str, at: usize) -> &str {
    list.split_whitespace().nth(at).unwrap_or_default()
}

fn plain(count: &str, scale: &str, open: &str, more: bool) -> String {
    format!("{count} {}", if more { open } else { scale })
}

const TAMIL: Grammar = Grammar {
    below_hundred: |n| match (n / 10, n % 10) {
        (0 | 1, _) => pick(
            "பூஜ்யம் ஒன்று இரண்டு மூன்று நான்கு ஐந்து ஆறு ஏழு எட்டு ஒன்பது பத்து பதினொன்று பன்னிரண்டு பதின்மூன்று \
             பதினான்கு பதினைந்து பதினாறு பதினேழு பதினெட்டு பத்தொன்பது",
            n,
        )
        .to_owned(),
        (tens, 0) => pick("இருபது முப்பது நாற்பது ஐம்பது அறுபது எழுபது எண்பது தொண்ணூறு", tens - 2).to_owned(),
        (tens, unit) => {
            let front = pick("இருபத்தி முப்பத்தி நாற்பத்தி ஐம்பத்தி அறுபத்தி எழுபத்தி எண்பத்தி தொண்ணூற்றி", tens - 2);
            let unit = pick("ஒன்று இரண்டு மூன்று நான்கு ஐந்து ஆறு ஏழு எட்டு ஒன்பது", unit - 1);
            format!("{front} {unit}")
        }
    },
    hundreds: |n, open| match (n, open) {
        (9, false) => "தொள்ளாயிரம்".to_owned(),
        (9, true) => "தொள்ளாயிரத்து".to_owned(),
        (n, false) => pick("நூறு இருநூறு முந்நூறு நானூறு ஐநூறு அறுநூறு எழுநூறு எண்ணூறு", n - 1).to_owned(),
        (n, true) => {
            pick("நூற்று இருநூற்று முந்நூற்று நானூற்று ஐநூற்று அறுநூற்று எழுநூற்று எண்ணூற்று", n - 1).to_owned()
        }
    },
    thousands: |count, n, open| match n {
        1 => if open { "ஆயிரத்து" } else { "ஆயிரம்" }.to_owned(),
        _ => plain(count, "ஆயிரம்", "ஆயிரத்து", open),
    },
    lakhs: |count, _, open| plain(count, "லட்சம்", "லட்சத்து", open),
    crores: |count, _, open| plain(count, "கோடி", "கோடியே", open),
};

const TELUGU: Grammar = Grammar {
    below_hundred: |n| match (n / 10, n % 10) {
        (0 | 1, _) => pick(
            "sunna okati rendu moodu naalugu aidu aaru edu enimidi tommidi padi padakondu pannendu padamoodu \
             padnaalugu padihenu padahaaru padihedu paddenimidi pantommidi",
            n,
        )
        .to_owned(),
        (tens, unit) => {
            let front = pick("iravai muppai nalabhai yaabhai aravai debbhai enabhai tombhai", tens - 2);
            match unit {
                0 => front.to_owned(),
                unit => {
                    format!(
                        "{front} {}",
                        pick("okati rendu moodu naalugu aidu aaru edu enimidi tommidi", unit - 1)
                    )
                }
            }
        }
    },
    hundreds: |n, open| match (n, open) {
        (1, false) => "vanda".to_owned(),
        (1, true) => "noota".to_owned(),
        (n, open) => {
            let count = pick("rendu moodu naalugu aidu aaru edu enimidi tommidi", n - 2);
            plain(count, "vandalu", "vandala", open)
        }
    },
    thousands: |count, n, open| match n {
        1 => "veyyi".to_owned(),
        _ => plain(count, "velu", "vela", open),
    },
    lakhs: |count, n, open| match n {
        1 => "oka laksha".to_owned(),
        _ => plain(count, "lakshalu", "lakshala", open),
    },
    crores: |count, n, open| match n {
        1 => "oka koti".to_owned(),
        _ => plain(count, "kotlu", "kotla", open),
    },
};

const KANNADA: Grammar = Grammar {
    below_hundred: |n| match (n / 10, n % 10) {
        (0 | 1, _) => pick(
            "ಸೊನ್ನೆ ಒಂದು ಎರಡು ಮೂರು ನಾಲ್ಕು ಐದು ಆರು ಏಳು ಎಂಟು ಒಂಬತ್ತು ಹತ್ತು ಹನ್ನೊಂದು ಹನ್ನೆರಡು ಹದಿಮೂರು ಹದಿನಾಲ್ಕು ಹದಿನೈದು \
             ಹದಿನಾರು ಹದಿನೇಳು ಹದಿನೆಂಟು ಹತ್ತೊಂಬತ್ತು",
            n,
        )
        .to_owned(),
        (tens, 0) => pick("ಇಪ್ಪತ್ತು ಮೂವತ್ತು ನಲವತ್ತು ಐವತ್ತು ಅರವತ್ತು ಎಪ್ಪತ್ತು ಎಂಬತ್ತು ತೊಂಬತ್ತು", tens - 2).to_owned(),
        (tens, unit) => {
            let front = pick("ಇಪ್ಪತ್ ಮೂವತ್ ನಲವತ್ ಐವತ್ ಅರವತ್ ಎಪ್ಪತ್ ಎಂಬತ್ ತೊಂಬತ್", tens - 2);
            format!("{front}{}", pick("ತೊಂದು ತೆರಡು ತಮೂರು ತನಾಲ್ಕು ತೈದು ತಾರು ತೇಳು ತೆಂಟು ತೊಂಬತ್ತು", unit - 1))
        }
    },
    hundreds: |n, open| {
        let closed = "ನೂರು ಇನ್ನೂರು ಮುನ್ನೂರು ನಾನೂರು ಐನೂರು ಆರುನೂರು ಏಳುನೂರು ಎಂಟುನೂರು ಒಂಬೈನೂರು";
        let opened = "ನೂರ ಇನ್ನೂರ ಮುನ್ನೂರ ನಾನೂರ ಐನೂರ ಆರುನೂರ ಏಳುನೂರ ಎಂಟುನೂರ ಒಂಬೈನೂರ";
        pick(if open { opened } else { closed }, n - 1).to_owned()
    },
    thousands: |count, _, open| plain(count, "ಸಾವಿರ", "ಸಾವಿರದ", open),
    lakhs: |count, _, open| plain(count, "ಲಕ್ಷ", "ಲಕ್ಷದ", open),
    crores: |count, _, _| plain(count, "ಕೋಟಿ", "ಕೋಟಿ", false),
};

const MALAYALAM: Grammar = Grammar {
    below_hundred: |n| {
        match (n / 10, n % 10) {
        (0 | 1, _) => pick(
            "poojyam onnu randu moonnu naalu anchu aaru ezhu ettu onpathu pathu pathinonnu panthrandu pathimoonnu \
             pathinaalu pathinanchu pathinaaru pathinezhu pathinettu pathonpathu",
            n,
        )
        .to_owned(),
        (tens, 0) => {
            pick("irupathu muppathu naalpathu ampathu arupathu ezhupathu enpathu thonnooru", tens - 2).to_owned()
        }
        (tens, unit) => {
            let front =
                pick("irupathi muppathi naalpathi ampathi arupathi ezhupathi enpathi thonnootti", tens - 2);
            let unit = pick("yonnu randu moonnu naalu yanchu yaaru yezhu yettu yonpathu", unit - 1);
            format!("{front}{unit}")
        }
    }
    },
    hundreds: |n, open| {
        let closed = "nooru irunnooru munnooru naanooru anjooru arunnooru ezhunnooru ennooru thollaayiram";
        let opened =
            "nootti irunnootti munnootti naanootti anjootti arunnootti ezhunnootti ennootti thollaayirathi";
        pick(if open { opened } else { closed }, n - 1).to_owned()
    },
    thousands: |count, n, open| {
        let scale = if open { "aayirathi" } else { "aayiram" };
        match n {
            1 => scale.to_owned(),
            _ => format!("{}{scale}", count.trim_end_matches('u')),
        }
    },
    lakhs: |count, n, open| match n {
        1 => plain("oru", "laksham", "lakshathi", open),
        _ => plain(count, "laksham", "lakshathi", open),
    },
    crores: |count, n, _| match n {
        1 => "oru kodi".to_owned(),
        _ => format!("{count} kodi"),
    },
};
