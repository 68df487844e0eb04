//! The model's own suggestions: a last line it is asked for, taken out of the stream before anybody sees it.

/// What the line begins with.
const MARK: &str = ">>next:";
const BETWEEN: char = '|';
/// What is kept of the line, in bytes; the rest is dropped.
const LONGEST: usize = 1_000;

/// What a prompt asks for. It stands with the instructions, behind the tools.
pub const ASKING: &str = "As the very last line of every answer write `>>next:` and two to four short things the person may \
want to say next, divided by ` | `: in their words, their language and their script, each under 60 letters, as a wish or a \
question, never as something that was done. Nobody sees this line as a part of the answer.";

/// Parts a stream into what is shown and the line that is not, whatever pieces it comes in. What may become the line is held
/// back until it is known.
#[derive(Clone, Debug, Default)]
pub struct SuggestionSplitter {
    /// Not shown yet: spaces, and a beginning of the mark.
    buffered: String,
    /// The line, once its mark came; none outside one.
    line: Option<String>,
    last: String,
}

impl SuggestionSplitter {
    /// Takes the next piece and gives what can be shown.
    pub fn push(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for letter in piece.chars() {
            self.take(letter, &mut shown);
        }
        shown
    }

    fn take(&mut self, letter: char, shown: &mut String) {
        if let Some(line) = &mut self.line {
            if letter == '\n' {
                self.last = self.line.take().unwrap_or_default();
                self.buffered.push(letter);
            } else if line.len() < LONGEST {
                line.push(letter);
            }
            return;
        }
        self.buffered.push(letter);
        while !is_beginning(&self.buffered) {
            // The first letter can be neither a space before the mark nor a part of it.
            let first = self.buffered.remove(0);
            shown.push(first);
        }
        if count_mark_bytes(&self.buffered) == MARK.len() {
            self.buffered.clear();
            self.line = Some(String::new());
        }
    }

    /// The end: what is left to be shown, and the suggestions.
    pub fn finish(mut self) -> (String, Vec<String>) {
        let line = self.line.take().unwrap_or(self.last);
        let parts = line.split(BETWEEN).map(|part| part.trim().to_owned());
        (self.buffered, parts.filter(|part| !part.is_empty()).collect())
    }
}

/// Whether a text is spaces and then a beginning of the mark.
fn is_beginning(text: &str) -> bool {
    count_mark_bytes(text) == text.trim_start().len()
}

/// How much of the mark a text has behind its spaces, in bytes.
fn count_mark_bytes(text: &str) -> usize {
    let rest = text.trim_start();
    if MARK.get(..rest.len()).is_some_and(|front| front.eq_ignore_ascii_case(rest)) { rest.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(pieces: &[&str]) -> (String, Vec<String>) {
        let mut splitter = SuggestionSplitter::default();
        let mut shown: String = pieces.iter().map(|piece| splitter.push(piece)).collect();
        let (rest, said) = splitter.finish();
        shown.push_str(&rest);
        (shown, said)
    }

    /// The same, said once for a whole text.
    fn plainly(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.to_ascii_lowercase().find(MARK) {
            out.push_str(rest.get(..at).unwrap().trim_end());
            let line = rest.get(at..).unwrap();
            rest = line.find('\n').map_or("", |end| line.get(end..).unwrap());
        }
        out + rest
    }

    #[test]
    fn the_line_is_taken_out_and_read() {
        let (shown, said) = split(&["Ramesh owes ₹500.\n\n>>next: Send a reminder | Who else owes me?| "]);
        assert_eq!(
            (shown.as_str(), said),
            ("Ramesh owes ₹500.", vec!["Send a reminder".to_owned(), "Who else owes me?".to_owned()])
        );
        let (shown, said) = split(&["a > b >> c. >", ">", "NE", "xt: d"]);
        assert_eq!((shown.as_str(), said), ("a > b >> c.", vec!["d".to_owned()]));
        assert_eq!(split(&["No line. >>nex"]), ("No line. >>nex".to_owned(), Vec::new()));
        assert_eq!(split(&["a\n>>next: x\nb"]), ("a\nb".to_owned(), vec!["x".to_owned()]));
        assert_eq!(split(&[">>>next: x"]).0, ">");
        assert_eq!(split(&[">>ne>>next: y\nxt: z"]).0, ">>ne\nxt: z");
    }

    #[test]
    fn words_are_not_held_back() {
        let mut splitter = SuggestionSplitter::default();
        assert_eq!(splitter.push("Hello there"), "Hello there");
        assert_eq!(splitter.push(" "), "");
        assert_eq!(splitter.push("you"), " you");
    }

    proptest! {
        #[test]
        fn cut_anywhere_it_is_the_same_and_the_mark_is_never_shown(
            parts in proptest::collection::vec("(>>next:|>>NEXT:| |\n|\\||>|>>|ne|xt:|:|क|नमस्ते|[a-z]{1,3})", 0..14),
            cuts in proptest::collection::vec(0usize..80, 0..6),
        ) {
            let text = parts.concat();
            let whole = split(&[&text]);
            prop_assert_eq!(&whole.0, &plainly(&text));
            prop_assert!(!whole.0.to_ascii_lowercase().contains(MARK));
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let each: Vec<&str> = letters.iter().map(String::as_str).collect();
            prop_assert_eq!(&split(&each), &whole);
            let mut at: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at) && *at <= text.len()).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let pieces: Vec<&str> = at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(&split(&pieces), &whole);
        }

        #[test]
        fn every_cut_of_a_plain_answer(cut in 0usize..60) {
            let text = "It is done.\n >>next: एक | दो\n";
            if let Some((front, back)) = text.split_at_checked(cut.min(text.len())) {
                prop_assert_eq!(split(&[front, back]), ("It is done.\n".to_owned(), vec!["एक".to_owned(), "दो".to_owned()]));
            }
        }

        #[test]
        fn no_stream_breaks_it(pieces in proptest::collection::vec(any::<String>(), 0..8)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert!(split(&pieces).1.iter().map(String::len).sum::<usize>() <= LONGEST + 4);
        }
    }
}
