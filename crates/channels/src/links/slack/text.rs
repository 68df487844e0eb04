//! The words of a message as people wrote them. Slack escapes three letters, and writes whom and what it knows in angle brackets.

/// The words without Slack's marks, and without the mention of us.
pub(super) fn read_text(text: &str, own: Option<&str>) -> String {
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let (before, behind) = rest.split_at(open);
        read.push_str(&unescape(before));
        // What is theirs comes escaped: an open bracket begins a mark, and has an end.
        let Some((mark, after)) = behind[1..].split_once('>') else {
            read.push_str(&unescape(behind));
            rest = "";
            break;
        };
        match own {
            Some(own) if names_person(mark, own) => {}
            _ => read.push_str(&read_mark(mark)),
        }
        rest = after;
    }
    read.push_str(&unescape(rest));
    read.trim().to_owned()
}

/// What somebody says who writes nothing but our name: they call us, and want to be asked what for. The name as the mention shows it, where it
/// does.
pub(super) fn read_call(text: &str, own: Option<&str>) -> Option<String> {
    let own = own?;
    let marks = text.split('<').skip(1).filter_map(|part| part.split_once('>').map(|(mark, _)| mark));
    let mut names = marks.filter_map(|mark| mark.strip_prefix('@')).map(split_label);
    let (_, label) = names.find(|(named, _)| *named == own)?;
    Some(label.map_or_else(|| "Hello".to_owned(), |label| format!("@{}", unescape(label))))
}

/// Who is mentioned, in order.
pub(super) fn list_mentioned(text: &str) -> Vec<&str> {
    let marks = text.split('<').skip(1).filter_map(|part| part.split_once('>').map(|(mark, _)| mark));
    marks.filter_map(|mark| mark.strip_prefix('@')).map(|named| split_label(named).0).collect()
}

fn names_person(mark: &str, person: &str) -> bool {
    mark.strip_prefix('@').is_some_and(|named| split_label(named).0 == person)
}

fn split_label(text: &str) -> (&str, Option<&str>) {
    match text.split_once('|') {
        Some((named, label)) => (named, Some(label).filter(|label| !label.is_empty())),
        None => (text, None),
    }
}

fn read_mark(mark: &str) -> String {
    let (named, label) = split_label(mark);
    let label = label.map(unescape);
    if let Some(person) = named.strip_prefix('@') {
        return format!("@{}", label.as_deref().unwrap_or(person));
    }
    if let Some(channel) = named.strip_prefix('#') {
        return format!("#{}", label.as_deref().unwrap_or(channel));
    }
    if let Some(command) = named.strip_prefix('!') {
        // A group, a moment, or everybody.
        return label.unwrap_or_else(|| format!("@{}", command.split('^').next().unwrap_or(command)));
    }
    let url = unescape(named);
    let bare = url.strip_prefix("mailto:").or_else(|| url.strip_prefix("tel:")).unwrap_or(&url);
    match label {
        // What they wrote themselves, of which Slack made a link.
        Some(label) if is_same_place(&label, bare) => label,
        Some(label) => format!("{label} ({bare})"),
        None => bare.to_owned(),
    }
}

fn is_same_place(label: &str, url: &str) -> bool {
    let strip = |text: &str| {
        let text = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
        text.trim_end_matches('/').to_lowercase()
    };
    strip(label) == strip(url)
}

/// Once: what was written as `&amp;lt;` is `&lt;`.
fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_what_people_wrote() {
        for (told, read) in [
            ("<@U0BOT> what does Meera owe?", "what does Meera owe?"),
            ("hello <@U0BOT|munshi>", "hello"),
            ("ask <@U7> and <@U8|ravi>", "ask @U7 and @ravi"),
            ("in <#C1|general> or <#C2> or <#C3|>", "in #general or #C2 or #C3"),
            ("<!here> and <!subteam^S1|@sales> and <!subteam^S2>", "@here and @sales and @subteam"),
            ("5 &lt; 6 &amp; 7 &gt; 6", "5 < 6 & 7 > 6"),
            ("&amp;lt;", "&lt;"),
            ("<https://a.example/?b=1&amp;c=2>", "https://a.example/?b=1&c=2"),
            ("<http://a.example|a.example>", "a.example"),
            ("<https://a.example|the bill>", "the bill (https://a.example)"),
            ("<mailto:meera@a.example|meera@a.example>", "meera@a.example"),
            ("<tel:+919812345678|+919812345678>", "+919812345678"),
            ("नमस्ते <", "नमस्ते <"),
            ("<", "<"),
            ("", ""),
        ] {
            assert_eq!(read_text(told, Some("U0BOT")), read, "{told}");
        }
    }

    #[test]
    fn a_name_alone_is_a_call() {
        assert_eq!(read_call(" <@U0BOT> ", Some("U0BOT")).as_deref(), Some("Hello"));
        assert_eq!(read_call("<@U7> <@U0BOT|munshi>", Some("U0BOT")).as_deref(), Some("@munshi"));
        assert_eq!(read_call("<@U7>", Some("U0BOT")), None);
        assert_eq!(read_call("<@U0BOT>", None), None);
    }

    #[test]
    fn who_is_mentioned_is_known() {
        assert_eq!(list_mentioned("<@U1> and <@U2|ravi> <#C1> <!here> <@"), ["U1", "U2"]);
    }
}
