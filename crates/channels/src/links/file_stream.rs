//! The bytes of a provider's answer, as they come.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::unfold;
use munshi_http::Response;

use crate::link::{FileStream, LinkFault};

/// A provider that stops within a file is not waited for longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Ends with a fault where the line breaks or rests.
pub(super) fn stream_file(response: Response) -> FileStream {
    let pieces = unfold(Some(response), |response| async move {
        let mut response = response?;
        match tokio::time::timeout(LONGEST_PAUSE, response.chunk()).await {
            Ok(Ok(Some(piece))) => Some((Ok(piece), Some(response))),
            Ok(Ok(None)) => None,
            Ok(Err(_)) => Some((Err(LinkFault::passing("the file broke off")), None)),
            Err(_) => Some((Err(LinkFault::passing("the file stopped coming")), None)),
        }
    });
    pieces.boxed()
}
