//! A markdown file in sections, each with the line it begins at.

/// One file.
#[derive(Clone, Debug, Default)]
pub(super) struct MarkdownFile {
    pub(super) file: &'static str,
    pub(super) sections: Vec<MarkdownSection>,
    /// What is for a program and not for people, by the line it begins at. It is in no section.
    pub(super) asides: Vec<(usize, MarkdownAside)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkdownAside {
    /// Between lines of `---`, at the very start.
    FrontMatter,
    /// Between lines of three backticks.
    Code,
}

impl MarkdownAside {
    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::FrontMatter => "the front matter",
            Self::Code => "a code block",
        }
    }
}

/// A heading and what stands under it. What stands before the first heading has an empty one.
#[derive(Clone, Debug, Default)]
pub(super) struct MarkdownSection {
    pub(super) heading: String,
    pub(super) level: usize,
    /// Of the heading.
    pub(super) line: usize,
    pub(super) body: Vec<(usize, String)>,
}

impl MarkdownFile {
    pub(super) fn read(file: &'static str, text: &str) -> Self {
        let mut sections = vec![MarkdownSection { line: 1, ..MarkdownSection::default() }];
        let mut asides = Vec::new();
        let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
        let front = count_front_matter_lines(&lines);
        if front > 0 {
            asides.push((1, MarkdownAside::FrontMatter));
        }
        let mut in_code = false;
        for (at, line) in lines.into_iter().enumerate().skip(front) {
            let is_mark = line.trim_start().starts_with("```");
            if is_mark && !in_code {
                asides.push((at + 1, MarkdownAside::Code));
            }
            in_code ^= is_mark;
            if in_code || is_mark {
                continue;
            }
            match heading(line) {
                Some((level, heading)) => {
                    sections.push(MarkdownSection {
                        heading: heading.to_owned(),
                        level,
                        line: at + 1,
                        body: Vec::new(),
                    });
                }
                None => {
                    if let Some(section) = sections.last_mut() {
                        section.body.push((at + 1, line.trim_end().to_owned()));
                    }
                }
            }
        }
        sections.retain(|section| !section.heading.is_empty() || !section.text().is_empty());
        Self { file, sections, asides }
    }
}

/// How many lines the settings at the top take; none where there are none, or they never end.
fn count_front_matter_lines(lines: &[&str]) -> usize {
    let is_mark = |line: &&str| line.trim_end() == "---";
    if !lines.first().is_some_and(is_mark) {
        return 0;
    }
    lines.iter().skip(1).position(is_mark).map_or(0, |at| at + 2)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' '))
        .then(|| (level, rest.trim().trim_end_matches('#').trim()))
}

impl MarkdownSection {
    /// Its lines without the empty ones around them.
    pub(super) fn text(&self) -> String {
        let lines: Vec<&str> = self.body.iter().map(|(_, line)| line.as_str()).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    }

    /// With its heading, as it was written.
    pub(super) fn full_text(&self) -> String {
        let text = self.text();
        match (self.heading.is_empty(), text.is_empty()) {
            (true, _) => text,
            (false, true) => format!("{} {}", "#".repeat(self.level), self.heading),
            (false, false) => format!("{} {}\n{text}", "#".repeat(self.level), self.heading),
        }
    }

    /// Whether one of the words stands in its heading.
    pub(super) fn is_about(&self, words: &[&str]) -> bool {
        let heading = self.heading.to_lowercase();
        words.iter().any(|word| heading.contains(word))
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.body.iter().map(|(at, line)| (*at, line.trim())).filter(|(_, line)| !line.is_empty())
    }
}

/// A list item's text; none where the line is no item.
pub(super) fn parse_item(line: &str) -> Option<&str> {
    let line = line.trim();
    let bullet = ["- ", "* ", "• ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = line.get(digits..).filter(|_| digits > 0)?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    };
    bullet.or_else(numbered).map(str::trim)
}

/// `Tone: warm`, `- **Tone:** warm` or `**Tone**: warm` as a key in small letters and its value.
pub(super) fn parse_pair(line: &str) -> Option<(String, String)> {
    let plain = parse_item(line).unwrap_or(line.trim()).replace("**", "").replace("__", "");
    let (key, value) = plain.split_once(':')?;
    let is_key = (1..=24).contains(&key.trim().len()) && key.split_whitespace().count() <= 3;
    is_key.then(|| (key.trim().to_lowercase(), value.trim().to_owned()))
}

/// `{{name}}` and the like: filled in by whatever ran the workspace.
pub(super) fn has_placeholder(text: &str) -> bool {
    text.contains("{{") && text.contains("}}")
}
