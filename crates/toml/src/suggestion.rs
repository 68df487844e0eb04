//! What was probably meant, when a word is not known.

/// The known word closest to `word`, when it is close enough to be a slip or its beginning.
pub fn find_nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance is quadratic in the lengths, and what was written may be megabytes long.
    let word = word.chars().take(100).collect::<String>().to_lowercase();
    let distance = |candidate: &str| {
        let begins_it = word.len() >= 3 && candidate.starts_with(&word);
        if begins_it { 1 } else { strsim::damerau_levenshtein(&word, candidate) }
    };
    known
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or what there is to choose from.
pub fn render_hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    match find_nearest(word, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => otherwise.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_strangers_are_not() {
        let known = ["guardrails", "voice", "speech"];
        assert_eq!(find_nearest("gaurdrails", known), Some("guardrails"));
        assert_eq!(find_nearest("Voice", known), Some("voice"));
        assert_eq!(find_nearest("guard", known), Some("guardrails"));
        assert_eq!(find_nearest("elephant", known), None);
        assert_eq!(find_nearest(&"x".repeat(1_000_000), known), None);
    }
}
