//! Waiting for what has to come. How long a machine takes is its own affair: no test fails for that.

use std::time::{Duration, Instant};

/// What has not come by then never comes, on a machine that is busy with ten other things too. Whoever waits goes on at
/// once when it is there, so that it costs nothing where nothing hangs.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until it is so; it is looked for often at first, and then less.
pub async fn wait_until(mut is: impl AsyncFnMut() -> bool) {
    let (began, mut pause) = (Instant::now(), Duration::from_millis(2));
    while !is().await {
        assert!(began.elapsed() < PATIENCE, "it never comes to that");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
