//! Files in an S3 bucket, by four requests: PUT, GET, HEAD, DELETE. A file is at most what an installation allows one to be (some 25 MB), so one
//! PUT does, and no object stands half written: S3 shows it when all of it has come with the promised hash.

mod body;
mod signature;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_http::{Body, Client, Response, StatusCode, Url, header, list_causes, read_body};
use munshi_keys::VaultSecret;
use munshi_types::Clock;

use self::body::FileBody;
use self::signature::{Payload, SigningKey};
use super::{BlobStore, SealedStream, name_object};
use crate::chunk_cipher::BlobObject;
use crate::error::{Error, Result};
use crate::spool::SpooledFile;

/// Every request may be repeated.
const TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// For an upload of the largest file over a slow line.
const UPLOAD: Duration = Duration::from_secs(300);
/// For the head of an answer, and between two pieces of one.
const ANSWER: Duration = Duration::from_secs(30);
/// As much of an error's text as is read.
const LONGEST_ERROR: usize = 4096;

/// Where the bucket is.
#[derive(Clone, Debug)]
pub struct S3Options {
    /// `https://s3.ap-south-1.amazonaws.com`, or a server of one's own.
    pub endpoint: Url,
    pub bucket: String,
    pub region: String,
    /// What names begin with, where a bucket holds other things too.
    pub prefix: String,
}

/// Who asks.
#[derive(Debug)]
pub struct S3Credentials {
    pub access_key: String,
    pub secret_key: VaultSecret,
}

/// A bucket, addressed by its path, which every server of this kind understands.
pub struct S3Store {
    client: Client,
    options: S3Options,
    credentials: S3Credentials,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for S3Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "S3Store({}/{})", self.options.endpoint, self.options.bucket)
    }
}

/// One request, which may be made again.
struct S3Request<'a> {
    method: &'static str,
    object: BlobObject,
    file: Option<&'a SpooledFile>,
}

/// Why there is no answer that counts.
enum S3Failure {
    /// May pass when tried again.
    Transient(String),
    /// So may this, and what was asked may happen yet.
    Timeout(String),
    Lasting(String),
}

impl S3Store {
    pub fn new(
        client: Client,
        options: S3Options,
        credentials: S3Credentials,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { client, options, credentials, clock }
    }

    /// The answer to a request, once it is one that counts: a success, or that there is no such object.
    async fn send(&self, request: S3Request<'_>) -> Result<Response> {
        let (mut pause, mut tries, mut timed_out) = (FIRST_PAUSE, 0, false);
        loop {
            tries += 1;
            let failure = match self.try_once(&request).await {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            timed_out |= matches!(failure, S3Failure::Timeout(_));
            let (why, is_lasting) = match failure {
                S3Failure::Transient(why) | S3Failure::Timeout(why) => (why, false),
                S3Failure::Lasting(why) => (why, true),
            };
            if is_lasting || tries == TRIES {
                let why = format!("{} {}: {why}", request.method, self.options.bucket);
                return Err(if timed_out { Error::StorageTimeout(why) } else { Error::Storage(why) });
            }
            tracing::debug!(%why, method = request.method, "the S3 server is asked again");
            tokio::time::sleep(pause).await;
            pause *= 4;
        }
    }

    async fn try_once(&self, request: &S3Request<'_>) -> Result<Response, S3Failure> {
        let lasting = |error: &dyn std::fmt::Display| S3Failure::Lasting(error.to_string());
        let url = self.url(request.object).map_err(|error| lasting(&error))?;
        let payload = request.file.map_or(Payload::Empty, |file| Payload::Hash(file.sha256));
        let signing = SigningKey {
            access_key: &self.credentials.access_key,
            secret_key: self.credentials.secret_key.expose(),
            region: &self.options.region,
        };
        let signed =
            signing.sign(request.method, &url, payload, self.clock.now()).map_err(|error| lasting(&error))?;
        let mut builder = match request.method {
            "PUT" => self.client.put(url),
            "DELETE" => self.client.delete(url),
            "HEAD" => self.client.head(url),
            _ => self.client.get(url),
        };
        builder = builder
            .header("x-amz-date", signed.date)
            .header("x-amz-content-sha256", signed.payload)
            .header(header::AUTHORIZATION, signed.authorization);
        if let Some(file) = request.file {
            let body = FileBody::open(file).map_err(|error| lasting(&error))?;
            builder = builder.header(header::CONTENT_LENGTH, file.length).body(Body::wrap(body));
        }
        let limit = if request.file.is_some() { UPLOAD } else { ANSWER };
        let sent = tokio::time::timeout(limit, builder.send()).await;
        let sent = sent.map_err(|_| S3Failure::Timeout(format!("no answer within {} s", limit.as_secs())))?;
        let response = sent.map_err(|error| {
            let causes = list_causes(&error).join(": ");
            S3Failure::Transient(if causes.is_empty() { error.without_url().to_string() } else { causes })
        })?;
        match response.status() {
            status if status.is_success() => Ok(response),
            StatusCode::NOT_FOUND if request.file.is_none() => self.check_missing(response).await,
            _ => Err(describe(response).await),
        }
    }

    /// A missing object is an answer; a missing bucket is somebody's mistake.
    async fn check_missing(&self, mut response: Response) -> Result<Response, S3Failure> {
        let mut text = Vec::new();
        let read = tokio::time::timeout(ANSWER, read_body(&mut response, LONGEST_ERROR, &mut text)).await;
        if matches!(read, Ok(Ok(()))) && find_element(&text, "Code").as_deref() == Some("NoSuchBucket") {
            let bucket = &self.options.bucket;
            return Err(S3Failure::Lasting(format!(
                "there is no bucket {bucket}: create it, or correct blobs.bucket"
            )));
        }
        Ok(response)
    }

    fn url(&self, object: BlobObject) -> Result<Url, String> {
        let mut url = self.options.endpoint.clone();
        let name = format!("{}{}", self.options.prefix, name_object(object));
        let mut segments = url.path_segments_mut().map_err(|()| "blobs.endpoint is no address".to_owned())?;
        segments.pop_if_empty().push(&self.options.bucket).extend(name.split('/'));
        drop(segments);
        Ok(url)
    }
}

#[async_trait]
impl BlobStore for S3Store {
    async fn put(&self, object: BlobObject, file: SpooledFile) -> Result<()> {
        self.send(S3Request { method: "PUT", object, file: Some(&file) }).await.map(drop)
    }

    async fn get(&self, object: BlobObject) -> Result<Option<SealedStream>> {
        let response = self.send(S3Request { method: "GET", object, file: None }).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        Ok(Some(stream::try_unfold(response, next_piece).boxed()))
    }

    async fn has(&self, object: BlobObject) -> Result<bool> {
        let response = self.send(S3Request { method: "HEAD", object, file: None }).await?;
        Ok(response.status() != StatusCode::NOT_FOUND)
    }

    async fn delete(&self, object: BlobObject) -> Result<()> {
        self.send(S3Request { method: "DELETE", object, file: None }).await.map(drop)
    }
}

async fn next_piece(mut response: Response) -> Result<Option<(Bytes, Response)>> {
    let broken = |why: String| Error::Storage(format!("the S3 server's answer broke off: {why}"));
    let piece = tokio::time::timeout(ANSWER, response.chunk()).await;
    let piece = piece.map_err(|_| broken(format!("nothing came for {} s", ANSWER.as_secs())))?;
    Ok(piece.map_err(|error| broken(list_causes(&error).join(": ")))?.map(|piece| (piece, response)))
}

/// A refusal as the server puts it.
async fn describe(mut response: Response) -> S3Failure {
    let status = response.status();
    let mut text = Vec::new();
    // What can't be read leaves the status, which says enough.
    let _read = tokio::time::timeout(ANSWER, read_body(&mut response, LONGEST_ERROR, &mut text)).await;
    let code = find_element(&text, "Code").unwrap_or_default();
    let message = find_element(&text, "Message").unwrap_or_default();
    let why = format!("{status} {code} {message}").trim_end().to_owned();
    let is_transient = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if is_transient { S3Failure::Transient(why) } else { S3Failure::Lasting(why) }
}

/// What stands in the first element of this name, as far as it is plain text.
fn find_element(xml: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(xml);
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = rest.split_once('<')?;
    Some(inner.chars().filter(|letter| !letter.is_control()).take(300).collect())
}
