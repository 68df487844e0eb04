//! What mails to people of a tenant say, in the language of whoever reads them.

use std::sync::{Arc, LazyLock};

use munshi_lang::{Locale, Phrasebook, PlaceholderValue, ScriptForm, format};
use munshi_types::{Language, Timestamp, Zone};

/// A link that goes by mail to whom it is for.
#[derive(Clone, Copy, Debug)]
pub struct LinkMail<'a> {
    pub kind: LinkMailKind,
    /// What they are invited to.
    pub place: &'a str,
    pub link: &'a str,
    pub ends_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkMailKind {
    Invitation,
    /// Lets somebody choose another password.
    Recovery,
}

/// The voice for somebody's language, or English where it is not known.
pub fn choose_voice(language: Option<Language>) -> Locale {
    Locale::new(language.unwrap_or(Language::English), ScriptForm::Native)
}

/// The mail with a link. Who did not expect it hears that there is nothing to do.
pub fn render_link_mail(mail: &LinkMail<'_>, zone: &Zone, voice: Locale) -> String {
    let ends = render_moment(mail.ends_at, zone, voice);
    let (place, ends) = (PlaceholderValue::Text(mail.place), PlaceholderValue::Text(&ends));
    let said = match mail.kind {
        LinkMailKind::Invitation => render("reach-invited", voice, &[("place", place), ("ends", ends)]),
        LinkMailKind::Recovery => render("reach-recovery", voice, &[("ends", ends)]),
    };
    [said, mail.link.to_owned(), render("reach-unasked", voice, &[])].join("\n\n")
}

/// What waits for somebody, and the page or the command by which it is answered: never the mail itself.
#[derive(Clone, Debug)]
pub(super) struct AnswerLine {
    pub text: String,
    pub place: String,
}

/// A connector that somebody has to let us into again, and the link or the command by which they do.
#[derive(Clone, Debug)]
pub(super) struct LoginLine {
    pub connector: String,
    pub place: String,
}

/// What somebody should look at, as often as it is there.
#[derive(Clone, Debug)]
pub(super) struct AlertLine {
    text: String,
    count: usize,
    /// A command that shows more of it.
    hint: Option<&'static str>,
}

impl AlertLine {
    /// Adds one to a list in which no two say the same.
    pub(super) fn add(lines: &mut Vec<Self>, (text, hint): (String, Option<&'static str>)) {
        match lines.iter_mut().find(|line| line.text == text) {
            Some(line) => line.count += 1,
            None => lines.push(Self { text, count: 1, hint }),
        }
    }

    fn render(&self) -> String {
        let count = if self.count > 1 { format!(" (×{})", self.count) } else { String::new() };
        let hint = self.hint.map(|hint| format!("\n  {hint}")).unwrap_or_default();
        format!("- {}{count}{hint}", self.text)
    }
}

/// Questions that wait for somebody, each with where it is answered.
pub(super) fn render_questions(questions: &[AnswerLine], tenant: &str, voice: Locale) -> String {
    let asked = format!("{tenant}: {}", render("approval-asked", voice, &[]));
    render_answers(asked, questions, voice)
}

/// Customers who ask for a human.
pub(super) fn render_requests(requests: &[AnswerLine], tenant: &str, voice: Locale) -> String {
    let told = render("reach-request", voice, &[("place", PlaceholderValue::Text(tenant))]);
    render_answers(told, requests, voice)
}

/// Connectors whose login is lost, each with the way in.
pub(super) fn render_logins(logins: &[LoginLine], tenant: &str, voice: Locale) -> String {
    let each = logins.iter().map(|login| {
        let fills =
            [("place", PlaceholderValue::Text(tenant)), ("name", PlaceholderValue::Text(&login.connector))];
        [render("reach-login", voice, &fills), login.place.clone()].join("\n\n")
    });
    each.collect::<Vec<_>>().join("\n\n")
}

fn render_answers(told: String, lines: &[AnswerLine], voice: Locale) -> String {
    let here = render("reach-answer", voice, &[]);
    let blocks = lines.iter().map(|line| {
        let parts = [line.text.as_str(), here.as_str(), line.place.as_str()];
        parts.into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n")
    });
    std::iter::once(told).chain(blocks).collect::<Vec<_>>().join("\n\n")
}

/// What somebody should look at.
pub(super) fn render_alerts(alerts: &[AlertLine], tenant: &str, place: &str, voice: Locale) -> String {
    let told = render("reach-alert", voice, &[("place", PlaceholderValue::Text(tenant))]);
    let listed: Vec<String> = alerts.iter().map(AlertLine::render).collect();
    [told, listed.join("\n"), place.to_owned()].join("\n\n")
}

fn render_moment(at: Timestamp, zone: &Zone, voice: Locale) -> String {
    let there = at.to_jiff().to_zoned(zone.to_jiff());
    let (day, time) = (format::date(there.date(), voice), format::time(there.time(), voice));
    format!("{day}, {time} {}", there.strftime("%Z"))
}

/// A test holds every phrase to be there in every voice.
fn render(name: &str, voice: Locale, fills: &[(&str, PlaceholderValue<'_>)]) -> String {
    phrasebook().render(name, voice, fills).unwrap_or_default()
}

fn phrasebook() -> Arc<Phrasebook> {
    static BOOK: LazyLock<Arc<Phrasebook>> = LazyLock::new(|| {
        let book = Phrasebook::core().and_then(|mut book| {
            book.add_files(&munshi_lang::phrase_files!("../../phrases"))?;
            Ok(book)
        });
        Arc::new(book.unwrap_or_default())
    });
    BOOK.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mail_has_its_words_in_every_voice() {
        let book = phrasebook();
        book.check().unwrap();
        assert_eq!(book.names().filter(|name| name.starts_with("reach-")).count(), 7);
        let zone: Zone = "Asia/Kolkata".parse().unwrap();
        for voice in Locale::all() {
            for kind in [LinkMailKind::Invitation, LinkMailKind::Recovery] {
                let link = "https://munshi.example/account/link/x";
                let mail = LinkMail { kind, place: "sharma", link, ends_at: Timestamp::EPOCH };
                let text = render_link_mail(&mail, &zone, voice);
                assert_eq!(text.matches(link).count(), 1, "{}: {text}", voice.code());
                assert!(text.split("\n\n").all(|part| part.len() > 10), "{}: {text}", voice.code());
            }
            let line = |text: &str| AnswerLine {
                text: text.to_owned(),
                place: "https://munshi.example/1".to_owned(),
            };
            let asked = render_questions(&[line("Send ₹500 to Ravi"), line("Delete it")], "sharma", voice);
            assert!(asked.starts_with("sharma: ") && asked.ends_with("https://munshi.example/1"), "{asked}");
            assert!(asked.contains("\nSend ₹500 to Ravi\n") && asked.contains("\nDelete it\n"), "{asked}");
            let called = render_requests(&[line("Wants a refund")], "sharma", voice);
            assert!(called.contains("sharma") && called.contains("\nWants a refund\n"), "{called}");
            let mut alerts = Vec::new();
            for text in ["Cash is low", "One may have arrived", "One may have arrived"] {
                AlertLine::add(
                    &mut alerts,
                    (text.to_owned(), text.starts_with("One").then_some("munshi outbox list")),
                );
            }
            let told = render_alerts(&alerts, "sharma", "https://munshi.example/", voice);
            assert!(told.contains("sharma") && told.contains("- Cash is low\n"), "{}: {told}", voice.code());
            assert!(told.contains("- One may have arrived (×2)\n  munshi outbox list\n"), "{told}");
        }
    }
}
