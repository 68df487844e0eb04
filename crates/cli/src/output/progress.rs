//! A bar on stderr for work that takes its time.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Gone when dropped, leaving no trace on the screen.
pub(crate) struct ProgressDisplay(ProgressBar);

impl ProgressDisplay {
    pub(crate) fn new(doing: &str, watched: bool) -> Self {
        let target = if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target).with_message(doing.to_owned());
        // A template that can't be read leaves the plain style.
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3}% {eta}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// So many of all are done.
    pub(crate) fn set_progress(&self, done: usize, all: usize) {
        self.0.set_length(u64::try_from(all).unwrap_or(u64::MAX));
        self.0.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    }

    /// What copying calls as it goes on.
    pub(crate) fn progress_callback(
        &self,
    ) -> impl FnMut(munshi_store::maintenance::BackupProgress) + Send + 'static {
        let bar = self.0.clone();
        move |progress| {
            bar.set_length(progress.total_pages);
            bar.set_position(progress.done_pages);
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
