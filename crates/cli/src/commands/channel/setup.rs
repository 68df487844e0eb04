//! What is left to set up of a channel, as text.

use crate::output::TextStyler;
use crate::output::table::sanitize_line;

/// The address for the provider, and what is to do, in order; nothing where nothing is.
pub(super) fn render_setup(webhook: Option<&str>, to_do: &[String], painter: TextStyler) -> String {
    let mut text = String::new();
    if let Some(webhook) = webhook {
        text += &format!("The provider's messages come to {}\n", painter.bold(&sanitize_line(webhook)));
    }
    if to_do.is_empty() {
        return text;
    }
    text += "Still to do:\n";
    for (number, step) in (1..).zip(to_do) {
        text += &format!("  {number}. {}\n", sanitize_line(step));
    }
    text
}
