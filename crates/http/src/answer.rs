//! Reading an answer within a bound, and why there is none.

use reqwest::{Error, Response};

/// Why a body was not read whole.
#[derive(Debug, thiserror::Error)]
pub enum ReadBodyError {
    #[error("the response is larger than {0} bytes")]
    TooLarge(usize),
    #[error(transparent)]
    Lost(#[from] Error),
}

/// Appends what an answer holds to `body`, which grows to `most` bytes at the most.
pub async fn read_body(
    response: &mut Response,
    most: usize,
    body: &mut Vec<u8>,
) -> Result<(), ReadBodyError> {
    while let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > most {
            return Err(ReadBodyError::TooLarge(most));
        }
        body.extend_from_slice(&piece);
    }
    Ok(())
}

/// What lies below an error, the root cause last. The error itself is left out: it names the address, which may hold a
/// secret.
pub fn list_causes(error: &Error) -> Vec<String> {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.map(ToString::to_string).collect()
}
