//! What each app writes for a mark.

use super::TextStyle;
use super::block::{LineMarker, TextBlock, TextLine};
use super::inline::{self, InlinePart};

/// For a line between two parts: no app draws one.
const RULE: &str = "———";

/// Addresses that an app may open. Others are shown as words.
const OPENED: [&str; 6] = ["https://", "http://", "mailto:", "tel:", "upi://", "tg://"];

pub(super) fn write(blocks: &[TextBlock<'_>], style: TextStyle) -> String {
    let writer = MarkWriter { style };
    let mut lines: Vec<String> = Vec::new();
    for block in blocks {
        match block {
            // Two paragraphs are one empty line apart, however many there were.
            TextBlock::Blank if lines.last().is_none_or(String::is_empty) => {}
            TextBlock::Blank => lines.push(String::new()),
            TextBlock::Rule => lines.push(RULE.to_owned()),
            TextBlock::Heading(words) => {
                let within = WithinMarks { strong: true, ..WithinMarks::default() };
                let words = writer.parts(&inline::parse(words), within);
                lines.push(writer.wrap(words, Mark::Strong));
            }
            TextBlock::Line(line) => lines.push(writer.line(line)),
            TextBlock::Code { language, lines: code } => lines.push(writer.code_block(language, code)),
            TextBlock::Table { head, rows } if rows.is_empty() => lines.push(writer.row(&[], head)),
            TextBlock::Table { head, rows } => {
                lines.extend(rows.iter().map(|row| writer.row(head, row)));
            }
        }
    }
    writer.join(&lines)
}

/// Marks that are open already: none is opened in itself.
#[derive(Clone, Copy, Debug, Default)]
struct WithinMarks {
    strong: bool,
    emphasis: bool,
    struck: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Strong,
    Emphasis,
    Struck,
    Code,
}

struct MarkWriter {
    style: TextStyle,
}

impl MarkWriter {
    /// Teams takes a single line break for a space. Telegram wants one element for a whole quote.
    fn join(&self, lines: &[String]) -> String {
        let break_of = |line: &String, next: Option<&String>| match self.style {
            TextStyle::Teams if !line.is_empty() && next.is_some_and(|next| !next.is_empty()) => "  \n",
            _ => "\n",
        };
        let mut out = String::new();
        for (at, line) in lines.iter().enumerate() {
            out.push_str(line);
            if at + 1 < lines.len() {
                out.push_str(break_of(line, lines.get(at + 1)));
            }
        }
        let out = match self.style {
            TextStyle::TelegramHtml => out.replace("</blockquote>\n<blockquote>", "\n"),
            _ => out,
        };
        out.trim_matches('\n').trim_end().to_owned()
    }

    fn line(&self, line: &TextLine<'_>) -> String {
        let words = self.parts(&inline::parse(line.text), WithinMarks::default());
        let indent = "  ".repeat(line.depth);
        let bullet = match self.style {
            TextStyle::Whatsapp | TextStyle::Teams | TextStyle::Plain => "-",
            TextStyle::TelegramHtml | TextStyle::Slack => "•",
        };
        let words = match line.marker {
            None => words,
            Some(LineMarker::Bullet) => format!("{indent}{bullet} {words}"),
            Some(LineMarker::Number(number)) => format!("{indent}{number} {words}"),
            Some(LineMarker::Open) => format!("{indent}{bullet} ☐ {words}"),
            Some(LineMarker::Done) => format!("{indent}{bullet} ☑ {words}"),
        };
        match (line.quotes, self.style) {
            (0, _) => words,
            (_, TextStyle::TelegramHtml) => format!("<blockquote>{words}</blockquote>"),
            (_, _) => format!("> {words}"),
        }
    }

    fn code_block(&self, language: &str, code: &[&str]) -> String {
        let body = code.join("\n");
        match self.style {
            TextStyle::Plain => body,
            TextStyle::Whatsapp => format!("```{}```", break_ticks(&body)),
            TextStyle::Slack => format!("```\n{}\n```", self.escape(&break_ticks(&body))),
            TextStyle::Teams => format!("```\n{}\n```", break_ticks(&body)),
            TextStyle::TelegramHtml => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || "+-#.".contains(c);
                let named = !language.is_empty() && language.len() <= 20 && language.chars().all(is_word);
                match named {
                    true => format!(
                        "<pre><code class=\"language-{language}\">{}</code></pre>",
                        self.escape(&body)
                    ),
                    false => format!("<pre>{}</pre>", self.escape(&body)),
                }
            }
        }
    }

    /// A row as a line of its own: phones are narrow. With two columns `first: second`, else each with its head.
    fn row(&self, head: &[&str], row: &[&str]) -> String {
        let cell = |text: &str, within| self.parts(&inline::parse(text), within);
        let plain = WithinMarks::default();
        let Some((first, others)) = row.split_first() else { return String::new() };
        if let ([_, _], [second]) = (head, others) {
            return format!("{}: {}", cell(first, plain), cell(second, plain));
        }
        let within = WithinMarks { strong: true, ..plain };
        let mut shown = vec![self.wrap(cell(first, within), Mark::Strong)];
        for (at, text) in others.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            let text = cell(text, plain);
            shown.push(match head.get(at + 1).filter(|head| !head.is_empty()) {
                Some(head) => format!("{}: {text}", cell(head, plain)),
                None => text,
            });
        }
        shown.retain(|text| !text.is_empty());
        shown.join(" · ")
    }

    fn parts(&self, parts: &[InlinePart], within: WithinMarks) -> String {
        parts.iter().map(|part| self.part(part, within)).collect()
    }

    fn part(&self, part: &InlinePart, within: WithinMarks) -> String {
        match part {
            InlinePart::Text(text) => self.escape(text),
            InlinePart::Code(code) => self.wrap(self.escape(code), Mark::Code),
            InlinePart::Strong(inner) if within.strong => self.parts(inner, within),
            InlinePart::Strong(inner) => {
                self.wrap(self.parts(inner, WithinMarks { strong: true, ..within }), Mark::Strong)
            }
            InlinePart::Emphasis(inner) if within.emphasis => self.parts(inner, within),
            InlinePart::Emphasis(inner) => {
                self.wrap(self.parts(inner, WithinMarks { emphasis: true, ..within }), Mark::Emphasis)
            }
            InlinePart::Struck(inner) if within.struck => self.parts(inner, within),
            InlinePart::Struck(inner) => {
                self.wrap(self.parts(inner, WithinMarks { struck: true, ..within }), Mark::Struck)
            }
            InlinePart::Link { label, url } => self.link(label, url, within),
        }
    }

    fn wrap(&self, words: String, mark: Mark) -> String {
        if words.is_empty() {
            return words;
        }
        let (before, after) = match (self.style, mark) {
            (TextStyle::Plain, _) => ("", ""),
            (TextStyle::TelegramHtml, Mark::Strong) => ("<b>", "</b>"),
            (TextStyle::TelegramHtml, Mark::Emphasis) => ("<i>", "</i>"),
            (TextStyle::TelegramHtml, Mark::Struck) => ("<s>", "</s>"),
            (TextStyle::TelegramHtml, Mark::Code) => ("<code>", "</code>"),
            (TextStyle::Teams, Mark::Strong) => ("**", "**"),
            (TextStyle::Teams, Mark::Struck) => ("~~", "~~"),
            (TextStyle::Whatsapp | TextStyle::Slack, Mark::Strong) => ("*", "*"),
            (TextStyle::Whatsapp | TextStyle::Slack, Mark::Struck) => ("~", "~"),
            (_, Mark::Emphasis) => ("_", "_"),
            (_, Mark::Code) => ("`", "`"),
        };
        format!("{before}{words}{after}")
    }

    fn link(&self, label: &[InlinePart], url: &str, within: WithinMarks) -> String {
        let words = self.parts(label, within);
        let opens = OPENED
            .iter()
            .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        let shown = url.strip_prefix("mailto:").or_else(|| url.strip_prefix("tel:")).unwrap_or(url);
        let is_bare = read_plain(label) == shown || read_plain(label) == url;
        match self.style {
            TextStyle::TelegramHtml if opens => format!("<a href=\"{}\">{words}</a>", escape_html(url)),
            TextStyle::Slack if opens && is_bare => format!("<{}>", escape_slack_url(url)),
            TextStyle::Slack if opens => format!("<{}|{}>", escape_slack_url(url), words.replace('|', "¦")),
            TextStyle::Teams if opens && is_bare => self.escape(url),
            TextStyle::Teams if opens => {
                let url = url.replace('(', "%28").replace(')', "%29").replace(['<', '>', ' '], "");
                format!("[{words}]({url})")
            }
            _ if is_bare => self.escape(shown),
            _ => format!("{words}: {}", self.escape(shown)),
        }
    }

    /// So that words are words: no tag, and nobody is called by them.
    fn escape(&self, text: &str) -> String {
        match self.style {
            TextStyle::TelegramHtml => escape_html(text),
            TextStyle::Slack | TextStyle::Teams => {
                text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
            }
            TextStyle::Whatsapp | TextStyle::Plain => text.to_owned(),
        }
    }
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn escape_slack_url(url: &str) -> String {
    url.replace('&', "&amp;").replace('<', "%3C").replace('>', "%3E").replace('|', "%7C").replace(' ', "%20")
}

/// Three ticks would end what is shown as it is.
fn break_ticks(body: &str) -> String {
    body.replace("```", "'''")
}

/// The words alone.
fn read_plain(parts: &[InlinePart]) -> String {
    parts
        .iter()
        .map(|part| match part {
            InlinePart::Text(text) | InlinePart::Code(text) => text.clone(),
            InlinePart::Strong(inner) | InlinePart::Emphasis(inner) | InlinePart::Struck(inner) => {
                read_plain(inner)
            }
            InlinePart::Link { label, .. } => read_plain(label),
        })
        .collect()
}
