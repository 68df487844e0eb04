//! What somebody wrote themselves: a text without what it answers, and without what stands under every mail of theirs.

/// How the line above a quotation ends, in what mail programs say; behind it a colon.
const WROTE: [&str; 44] = [
    "wrote",
    "writes",
    "schrieb",
    "schrieb am",
    "a écrit",
    "escribió",
    "escreveu",
    "ha scritto",
    "schreef",
    "skrev",
    "napisał(a)",
    "napisał",
    "napsal(a)",
    "написал(а)",
    "написал",
    "пишет",
    "yazdı",
    "menulis",
    "đã viết",
    "viết",
    "scrisse",
    "a scris",
    "kirjoitti",
    "írta",
    "έγραψε",
    "כתב",
    "كتب",
    "写道",
    "のメッセージ",
    "書きました",
    "ने लिखा",
    "लिखा",
    "লিখেছেন",
    "লিখেছে",
    "লিখিছে",
    "எழுதியது",
    "எழுதினார்",
    "రాశారు",
    "వ్రాశారు",
    "लिहिले",
    "લખ્યું",
    "ಬರೆದರು",
    "എഴുതി",
    "ਲਿਖਿਆ",
];
/// The same, that do not end in one of the above.
const WROTE_TOO: [&str; 5] = ["نے لکھا", "ଲେଖିଛନ୍ତି", "ಬರೆದಿದ್ದಾರೆ", "എഴുതിയത്", "napisao je"];

/// The first lines of the block that Outlook and others put above what is answered.
const SENDER_FIELDS: [&str; 20] = [
    "from",
    "von",
    "de",
    "da",
    "van",
    "från",
    "fra",
    "od",
    "от",
    "kimden",
    "dari",
    "प्रेषक",
    "से",
    "প্রেরক",
    "அனுப்புநர்",
    "పంపినవారు",
    "ಇಂದ",
    "发件人",
    "差出人",
    "보낸 사람",
];
/// Its other lines.
const OTHER_FIELDS: [&str; 41] = [
    "sent",
    "date",
    "to",
    "cc",
    "subject",
    "reply-to",
    "gesendet",
    "datum",
    "an",
    "betreff",
    "envoyé",
    "à",
    "objet",
    "enviado",
    "enviada em",
    "para",
    "asunto",
    "assunto",
    "inviato",
    "data",
    "a",
    "oggetto",
    "verzonden",
    "aan",
    "onderwerp",
    "skickat",
    "till",
    "ämne",
    "отправлено",
    "кому",
    "тема",
    "दिनांक",
    "प्रति",
    "विषय",
    "তারিখ",
    "বিষয়",
    "தேதி",
    "发送时间",
    "收件人",
    "主题",
    "件名",
];
/// What stands between lines above what is answered.
const RULES: [&str; 10] = [
    "original message",
    "ursprüngliche nachricht",
    "message d'origine",
    "mensaje original",
    "mensagem original",
    "messaggio originale",
    "oorspronkelijk bericht",
    "reply message",
    "मूल संदेश",
    "原始邮件",
];
/// What programs add at the end.
const ADVERTS: [&str; 14] = [
    "sent from my ",
    "sent from outlook",
    "sent from mail for",
    "sent from yahoo",
    "sent from proton",
    "get outlook for",
    "sent via ",
    "von meinem ",
    "envoyé de mon ",
    "enviado desde mi ",
    "enviado do meu ",
    "inviato da ",
    "sent with ",
    "मेरे iphone से",
];

/// The line above a quotation may be broken into so many.
const MOST_BROKEN: usize = 3;
const LONGEST_INTRODUCTION: usize = 400;
/// A signature is no longer.
const LONGEST_SIGNATURE: usize = 20;
/// Of a header that stands in a text so many lines are looked at.
const BLOCK: usize = 7;

/// Whether a mail passes on what somebody else wrote, by its subject: then that is what it is about.
pub(super) fn is_forward(subject: &str) -> bool {
    let subject = subject.trim_start().to_lowercase();
    ["fwd:", "fw:", "wg:", "tr:", "rv:", "enc:", "i:", "doorst:", "转发:", "轉寄:"]
        .iter()
        .any(|word| subject.starts_with(word))
}

/// The words without what they answer. Where nothing would be left, all of them: somebody wrote within what they quoted, or so that
/// nobody can tell.
pub(super) fn cut_quotes(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let cut = strip_signature(&cut_lines(&lines));
    match cut.trim().is_empty() {
        true => text.trim().to_owned(),
        false => cut.trim().to_owned(),
    }
}

fn cut_lines<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let last_quoted = lines.iter().rposition(|line| is_quoted(line)).unwrap_or(0);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some(size) = measure_introduction(&lines[at..]) {
            // Quoted line by line, somebody may have written in between; else all that follows is theirs no more.
            if last_quoted < at + size {
                break;
            }
            at += size;
            continue;
        }
        if is_rule(line) || is_header_block(&lines[at..]) {
            break;
        }
        if !is_quoted(line) {
            kept.push(*line);
        }
        at += 1;
    }
    kept
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// How many lines say who wrote what is quoted below, where these do.
fn measure_introduction(lines: &[&str]) -> Option<usize> {
    let first = lines.first()?.trim();
    if first.is_empty() || is_quoted(first) {
        return None;
    }
    let mut joined = String::new();
    for (number, line) in lines.iter().take(MOST_BROKEN).enumerate() {
        let line = line.trim();
        if line.is_empty() || joined.len() + line.len() > LONGEST_INTRODUCTION {
            return None;
        }
        // The day stands in the first of the lines: what somebody wrote just above is none of them.
        if number > 0 && (!has_day(first) || has_day(line)) {
            return None;
        }
        joined.push_str(line);
        joined.push(' ');
        if is_introduction(joined.trim()) {
            return Some(number + 1);
        }
    }
    None
}

/// `On Tue, 3 Mar 2026 at 10:00, Shop <shop@example.com> wrote:`, in any language: a word for writing at its end, or at its beginning, and a
/// day or an address in it.
fn is_introduction(line: &str) -> bool {
    let Some(bare) = line.strip_suffix([':', '：']) else { return false };
    let bare = bare.trim_end().to_lowercase();
    let has_place = bare.contains('@') || has_day(&bare);
    let says = WROTE.iter().chain(&WROTE_TOO).any(|word| bare.ends_with(word));
    // German and Dutch have the name behind the word.
    let says_within = ["am ", "op ", "den ", "le "].iter().any(|word| bare.starts_with(word))
        && [" schrieb ", " schreef ", " skrev "].iter().any(|word| bare.contains(word));
    has_place && (says || says_within)
}

/// A year is enough, in whichever digits.
fn has_day(text: &str) -> bool {
    text.chars().filter(|c| c.is_numeric()).count() >= 3
}

/// `-----Original Message-----`, and lines of underscores.
fn is_rule(line: &str) -> bool {
    let line = line.trim().trim_start_matches('*').to_lowercase();
    let is_framed = line.starts_with("--") && line.ends_with("--");
    is_framed && RULES.iter().any(|words| line.contains(words))
}

/// `From: …`, `Sent: …`, `To: …`, `Subject: …`, one below the other, perhaps under a line.
fn is_header_block(lines: &[&str]) -> bool {
    let mut rest = lines;
    let is_line = |line: &str| line.len() >= 10 && line.chars().all(|c| matches!(c, '_' | '-' | '='));
    if rest.first().is_some_and(|line| is_line(line.trim())) {
        rest = &rest[1..];
    }
    while rest.first().is_some_and(|line| line.trim().is_empty()) && rest.len() < lines.len() {
        rest = &rest[1..];
    }
    let Some(first) = rest.first() else { return false };
    let names_sender = read_field(first).is_some_and(|name| SENDER_FIELDS.contains(&name.as_str()));
    let fields = rest.iter().skip(1).take(BLOCK).filter_map(|line| read_field(line));
    names_sender && fields.filter(|name| OTHER_FIELDS.contains(&name.as_str())).count() >= 2
}

/// The name of a line's field, in small letters.
fn read_field(line: &str) -> Option<String> {
    let bare = line.trim().trim_start_matches(['*', '>', ' ']);
    let (name, _) = bare.split_once([':', '：'])?;
    let name = name.trim_matches(['*', ' ', '\u{a0}']).to_lowercase();
    (!name.is_empty() && name.len() <= 40).then_some(name)
}

fn strip_signature(lines: &[&str]) -> String {
    let is_mark = |line: &&str| matches!(line.trim_end(), "--" | "-- " | "—" | "__");
    let start = lines.iter().rposition(is_mark);
    let end = match start {
        Some(start) if lines.len() - start <= LONGEST_SIGNATURE => start,
        _ => lines.len(),
    };
    let mut kept = &lines[..end];
    while let [rest @ .., last] = kept {
        let last = last.trim().to_lowercase();
        if !last.is_empty() && !ADVERTS.iter().any(|words| last.starts_with(words)) {
            break;
        }
        kept = rest;
    }
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_answered_is_cut_in_many_languages() {
        for introduction in [
            "On Tue, 3 Mar 2026 at 10:00, Sharma Traders <shop@example.com> wrote:",
            "On Tue, 3 Mar 2026 at 10:00, Sharma Traders with a long name\n<shop@example.com> wrote:",
            "Am Di., 3. März 2026 um 10:00 Uhr schrieb Sharma <shop@example.com>:",
            "Le mar. 3 mars 2026 à 10:00, Sharma <shop@example.com> a écrit :",
            "El mar, 3 mar 2026 a las 10:00, Sharma (<shop@example.com>) escribió:",
            "Em ter., 3 de mar. de 2026 às 10:00, Sharma <shop@example.com> escreveu:",
            "Il giorno mar 3 mar 2026 alle ore 10:00 Sharma <shop@example.com> ha scritto:",
            "Op di 3 mrt 2026 om 10:00 schreef Sharma <shop@example.com>:",
            "मंगल, 3 मार्च 2026 को 10:00 बजे Sharma <shop@example.com> ने लिखा:",
            "मंगळ, ३ मार्च, २०२६ रोजी १०:०० वाजता Sharma ने लिहिले:",
            "মঙ্গল, ৩ মার্চ, ২০২৬ তারিখে Sharma <shop@example.com> লিখেছেন:",
            "செவ்., 3 மார்., 2026 அன்று Sharma <shop@example.com> எழுதியது:",
            "మంగళ, 3 మార్చి 2026న Sharma <shop@example.com> రాశారు:",
            "મંગળ, 3 માર્ચ 2026 Sharma <shop@example.com> લખ્યું:",
            "ಮಂಗಳ, 3 ಮಾರ್ಚ್ 2026 Sharma <shop@example.com> ಬರೆದರು:",
            "2026, മാർ 3 ചൊ, Sharma <shop@example.com> എഴുതി:",
            "ਮੰਗਲ, 3 ਮਾਰਚ 2026 Sharma <shop@example.com> ਲਿਖਿਆ:",
            "منگل، 3 مارچ، 2026 کو Sharma <shop@example.com> نے لکھا:",
            "Sharma <shop@example.com> 于2026年3月3日周二 10:00写道：",
            "-----Original Message-----\nFrom: Sharma <shop@example.com>",
            "From: Sharma <shop@example.com>\nSent: Tuesday, March 3, 2026 10:00\nTo: Meera\nSubject: Order",
            "*From:* Sharma <shop@example.com>\n*Date:* Tuesday\n*To:* Meera\n*Subject:* Order",
            "________________________________\nVon: Sharma <shop@example.com>\nGesendet: Dienstag\nAn: Meera\nBetreff: Order",
            "De : Sharma <shop@example.com>\nEnvoyé : mardi\nÀ : Meera\nObjet : Order",
            "प्रेषक: Sharma <shop@example.com>\nदिनांक: मंगल\nप्रति: Meera\nविषय: Order",
        ] {
            for quoted in ["Your order is ready.", "> Your order is ready.\n>\n> > earlier"] {
                let text = format!("Yes, please send it.\n\n{introduction}\n\n{quoted}\n");
                assert_eq!(cut_quotes(&text), "Yes, please send it.", "{text}");
            }
        }
    }

    #[test]
    fn what_stands_just_above_a_quotation_stays() {
        let introduction = "On Tue, 3 Mar 2026 at 10:00, Sharma\n<shop@example.com> wrote:\n> old";
        for own in ["Yes", "Please send 1000 bags of rice to us", "Yes.\nTwo lines"] {
            assert_eq!(cut_quotes(&format!("{own}\n{introduction}")), own);
        }
    }

    #[test]
    fn what_stands_between_quoted_lines_stays() {
        let text =
            "On 3 Mar 2026, Shop <shop@example.com> wrote:\n> How many?\nTen.\n> Which colour?\nRed.\n";
        assert_eq!(cut_quotes(text), "Ten.\nRed.");
    }

    #[test]
    fn what_somebody_says_is_not_cut() {
        for text in [
            "My boss wrote:\nsend 10 bags.",
            "From: Pune\nTo: Nagpur\nHow much is it?",
            "Please note:\n1. rice\n2. dal",
            "The rule of 2026 says: pay.",
            "--\nno words above",
            "> all of it is quoted",
        ] {
            assert_eq!(cut_quotes(text), text);
        }
    }

    #[test]
    fn what_stands_under_every_mail_goes() {
        for end in [
            "\n-- \nMeera Rao\n+91 98123 45678",
            "\n\nSent from my iPhone",
            "\nGet Outlook for Android<https://aka.ms/x>\n",
        ] {
            assert_eq!(cut_quotes(&format!("Ten bags.\n{end}")), "Ten bags.");
        }
    }

    #[test]
    fn what_is_passed_on_is_known_by_its_subject() {
        assert!(is_forward("Fwd: bill") && is_forward(" FW: bill") && !is_forward("Re: Fwd: bill"));
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_borne(text in "[a-z@:>0-9\n _\\-é न]{0,400}") {
            let cut = cut_quotes(&text);
            prop_assert!(cut.len() <= text.len());
            prop_assert_eq!(cut.is_empty(), text.trim().is_empty());
        }
    }
}
