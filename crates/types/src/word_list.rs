//! Word lists: the lexicons, phrases and tool files that are compiled in.
//!
//! Empty lines and lines that begin with `#` say nothing, and `[name]` begins a section. What else stands on a line is up to
//! each list. The build script of `lang` reads its lexicon with this file too, so it uses nothing else of the crate.

/// A line that says something, without the space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordListLine<'a> {
    /// From 1.
    pub number: usize,
    /// The name of the section it stands in; empty before the first.
    pub section: &'a str,
    pub text: &'a str,
}

/// The lines of a list.
pub fn read_lines(text: &str) -> impl Iterator<Item = WordListLine<'_>> {
    let mut section = "";
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let text = line.trim();
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            return None;
        }
        let says_something = !text.is_empty() && !text.starts_with('#');
        says_something.then_some(WordListLine { number, section, text })
    })
}

/// The lines of a list that have a head, such as `yes: haan ji`, as the head and the rest. Other lines are left out.
pub fn read_entries<'a>(text: &'a str, separator: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    read_lines(text).filter_map(move |line| line.text.split_once(separator))
}

/// An enum whose variants are the classes of a word list, each with its name there; `parse` finds a class by its name.
#[macro_export]
macro_rules! word_classes {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident { $($(#[$doc:meta])* $class:ident = $word:literal),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $visibility enum $name { $($(#[$doc])* $class),* }

        impl $name {
            fn parse(name: &str) -> Option<Self> {
                match name { $($word => Some(Self::$class),)* _ => None }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_number_and_section() {
        let text = "# about\n\n yes: haan\n[rest]\n# more\nno: nahi: na\nodd\n";
        let lines: Vec<_> = read_lines(text).map(|line| (line.number, line.section, line.text)).collect();
        assert_eq!(lines, [(3, "", "yes: haan"), (6, "rest", "no: nahi: na"), (7, "rest", "odd")]);
        assert_eq!(read_entries(text, ": ").collect::<Vec<_>>(), [("yes", "haan"), ("no", "nahi: na")]);
    }
}
