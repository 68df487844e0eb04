//! A mail server that is found, connected to, encrypted, greeted and logged in at.

use std::future::Future;
use std::time::Duration;

use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::extension::ClientId;
use munshi_safety::vault::VaultSecret;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::dial::MailDialer;
use super::fault::{MailFault, MailStage, redact_reply};
use super::handshake::request_tls;
use super::stream::MailStream;
use super::timings::MailTimings;
use crate::accounts::{MailAccount, MailSecurity};

/// The ways to say a password, the better one first.
const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];

/// What a connection is opened with.
pub(super) struct MailConnector<'a> {
    pub account: &'a MailAccount,
    pub dialer: MailDialer<'a>,
    pub timings: &'a MailTimings,
}

impl MailConnector<'_> {
    /// Ready to be told of a mail.
    pub(super) async fn open(
        &self,
        password: Option<&VaultSecret>,
    ) -> Result<AsyncSmtpConnection, MailFault> {
        let (line, peer) = self.dialer.connect().await?;
        let stream = match self.account.security {
            MailSecurity::Tls => MailStream::encrypted(self.dialer.encrypt(line).await?, peer),
            MailSecurity::Starttls => MailStream::upgraded(self.upgrade(line).await?, peer),
            MailSecurity::None => MailStream::plain(line, peer),
        };
        let hello = ClientId::Domain(self.account.domain().to_owned());
        let greeted = AsyncSmtpConnection::connect_with_transport(Box::new(stream), &hello);
        let mut connection = self.step(MailStage::Greet, "the server did not greet", greeted).await?;
        if let (Some(login), Some(password)) = (&self.account.login, password) {
            let credentials = Credentials::new(login.name.clone(), password.expose().to_owned());
            let doing = format!("the server refused the login as {}", login.name);
            self.step(MailStage::Login, &doing, connection.auth(&MECHANISMS, &credentials)).await?;
        }
        Ok(connection)
    }

    async fn upgrade(&self, mut line: TcpStream) -> Result<TlsStream<TcpStream>, MailFault> {
        let asked = self.limit(self.timings.command, request_tls(&mut line, self.account.domain())).await;
        match asked {
            Some(Ok(())) => self.dialer.encrypt(line).await,
            Some(Err(error)) => {
                let what = format!(
                    "{} can't be talked to securely: {}",
                    self.account.host,
                    redact_reply(&error.to_string())
                );
                Err(MailFault::passing(MailStage::Encrypt, what))
            }
            None => {
                let what =
                    format!("{} did not answer: with port 465 use security = \"tls\"", self.account.host);
                Err(MailFault::passing(MailStage::Encrypt, what))
            }
        }
    }

    /// None where the time of this step is over, or of all.
    pub(super) async fn limit<T>(&self, time: Duration, work: impl Future<Output = T>) -> Option<T> {
        self.dialer.limit(time, work).await
    }

    /// One command and its answer, within its time.
    pub(super) async fn step<T>(
        &self,
        stage: MailStage,
        doing: &str,
        command: impl Future<Output = Result<T, SmtpError>>,
    ) -> Result<T, MailFault> {
        match self.limit(self.timings.command, command).await {
            Some(answer) => answer.map_err(|error| MailFault::from_smtp(stage, doing, &error)),
            None => Err(MailFault::passing(stage, format!("{doing}: no answer in time"))),
        }
    }
}
