//! What is sent without waiting for its answer: it travels with the next thing that is waited for.

use futures_util::future::{join, join_all};
use munshi_types::Timestamp;
use tokio_postgres::{Client, Statement};
use uuid::Uuid;

use super::blocking_client::BlockingPostgresClient;
use super::connection::bind;
use super::errors::translate;
use crate::error::{Error, Result};
use crate::value::Param;

/// More than any unit of ours sends at once.
pub(super) const MOST: usize = 24;

pub(super) enum PipelinedCommand {
    /// A transaction command.
    Command(String),
    Statement(Statement, Vec<OwnedParam>),
}

/// A parameter that outlives its caller.
pub(super) enum OwnedParam {
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
    Uuid(Uuid),
    Time(Timestamp),
    Json(String),
    Vector(Vec<f32>),
}

impl From<Param<'_>> for OwnedParam {
    fn from(param: Param<'_>) -> Self {
        match param {
            Param::Null => Self::Null,
            Param::Bool(value) => Self::Bool(value),
            Param::Integer(value) => Self::Integer(value),
            Param::Real(value) => Self::Real(value),
            Param::Text(text) => Self::Text(text.to_owned()),
            Param::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
            Param::Uuid(uuid) => Self::Uuid(uuid),
            Param::Time(moment) => Self::Time(moment),
            Param::Json(text) => Self::Json(text.to_owned()),
            Param::Vector(values) => Self::Vector(values.to_owned()),
        }
    }
}

impl OwnedParam {
    fn param(&self) -> Param<'_> {
        match self {
            Self::Null => Param::Null,
            Self::Bool(value) => Param::Bool(*value),
            Self::Integer(value) => Param::Integer(*value),
            Self::Real(value) => Param::Real(*value),
            Self::Text(text) => Param::Text(text),
            Self::Bytes(bytes) => Param::Bytes(bytes),
            Self::Uuid(uuid) => Param::Uuid(*uuid),
            Self::Time(moment) => Param::Time(*moment),
            Self::Json(text) => Param::Json(text),
            Self::Vector(values) => Param::Vector(values),
        }
    }
}

impl PipelinedCommand {
    pub(super) async fn execute(&self, client: &Client) -> Result<(), tokio_postgres::Error> {
        match self {
            Self::Command(text) => client.batch_execute(text).await,
            Self::Statement(statement, kept) => {
                let params: Vec<_> = kept.iter().map(OwnedParam::param).collect();
                client.execute(statement, &bind(None, &params)).await.map(drop)
            }
        }
    }
}

/// Sends all of it in its order, then the last, and waits for every answer. The first that failed is the answer: what
/// comes after it fails only because of it.
pub(super) fn send_all_with<T>(
    line: &BlockingPostgresClient,
    before: &[PipelinedCommand],
    last: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T> {
    if before.is_empty() {
        return line.block_on(last)?.map_err(translate);
    }
    let sent = join_all(before.iter().map(|one| one.execute(&line.client)));
    let (sent, last) = line.block_on(join(sent, last))?;
    sent.into_iter().collect::<Result<Vec<_>, _>>().map_err(translate)?;
    last.map_err(translate)
}

/// The same with the word that makes it last. A statement that the server refused has undone the transaction before the
/// word was heard; anything else that goes wrong leaves open whether it was.
pub(super) fn send_all_and_commit(line: &BlockingPostgresClient, before: &[PipelinedCommand]) -> Result<()> {
    let sent = join_all(before.iter().map(|one| one.execute(&line.client)));
    let Ok((sent, last)) = line.block_on(join(sent, line.client.batch_execute("COMMIT"))) else {
        return Err(Error::OutcomeUnknown);
    };
    if let Some(error) = sent.into_iter().find_map(Result::err) {
        return Err(if error.as_db_error().is_some() { translate(error) } else { Error::OutcomeUnknown });
    }
    last.map_err(|error| match (error.as_db_error().is_some(), translate(error)) {
        (false, _) | (true, Error::Unavailable { .. }) => Error::OutcomeUnknown,
        (true, refusal) => refusal,
    })
}
