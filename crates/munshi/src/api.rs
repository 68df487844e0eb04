//! What the routes under `/v1` are made of.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_channels::email::MailSender;
use munshi_channels::incoming::ChannelIntake;
use munshi_config::Config;
use munshi_identity::codes::CodeKey;
use munshi_identity::keys::ApiKeyCache;
use munshi_live::LiveHub;
use munshi_pack::PackServices;
use munshi_safety::vault::Vault;
use munshi_store::Db;
use munshi_tiers::BindingResolver;
use munshi_types::{Clock, IdGenerator, SystemRandom, TenantId};
use munshi_web::Api;
use munshi_web::account::authenticator::SignInAuthenticator;
use munshi_web::api::{ApiParts, CodeKeySource};
use munshi_web::visitor::authenticator::VisitorAuthenticator;
use munshi_web::visitor::{ChallengeSettings, VisitorServices};
use munshi_wiring::engine::ConfiguredEngine;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::operations::ConfiguredParts;
use munshi_wiring::{account, blobs, installation, packs, vault};

use crate::onboarding::{self, InstallationOnboarding};
use crate::sign_in;

pub(crate) async fn build(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    resolver: BindingResolver,
    (turns, mail): (&ConfiguredEngine, Option<&Arc<MailSender>>),
    proofs: Option<Arc<dyn VisitorAuthenticator>>,
) -> Result<Api> {
    let vault = vault::open(config, db.clone(), clock.clone()).await?;
    let hosts = sign_in::build_host_verifier(db, &vault)?;
    let signed_in = || SignInAuthenticator {
        db: db.clone(),
        clock: clock.clone(),
        ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
        hosts: hosts.clone(),
        public_url: account::public_url(config),
    };
    let proofs = proofs.unwrap_or_else(|| Arc::new(signed_in()));
    let visits = build_visitor_services(config, (db, clock), proofs, turns.pack_services.clone())?;
    let parts = ApiParts {
        db: db.clone(),
        engine: turns.engine.clone(),
        keys: ApiKeyCache::new(db.clone(), clock.clone()),
        house_parts: Arc::new(
            ConfiguredParts::new(Arc::new(config.clone()), db.clone(), clock.clone())
                .with_senders(turns.senders.clone())
                .with_mail(mail.cloned()),
        ),
        resolver,
        act_services: turns.act_services.clone(),
        account: sign_in::build_services(config, &vault).await?,
        hosts,
        codes: Arc::new(FromVault { vault, clock: clock.clone() }),
        senders: Arc::new(turns.senders.clone()),
        intake: Some(ChannelIntake {
            accounts: turns.senders.clone(),
            queue: turns.engine.run_starter().queue,
            ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
            clock: clock.clone(),
        }),
        logins: turns.logins.clone(),
        files: blobs::build(config, db, clock)?,
        file_address_lifetime: blobs::address_lifetime(config),
        live: LiveHub::new(db.clone(), clock.clone()),
        stream_pace: munshi_web::api::StreamPace::default(),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
        // Room for the answer to leave before the request's time is over.
        reply_timeout: config.server.request_timeout.mul_f64(0.8),
        key_limit: u32::try_from(config.server.key_requests_per_minute).unwrap_or(u32::MAX),
        address_limit: u32::try_from(config.server.address_requests_per_minute).unwrap_or(u32::MAX),
    };
    Ok(Api::with_visitors(parts, visits))
}

/// What people at pages are received with.
fn build_visitor_services(
    config: &Config,
    (db, clock): (&Db, &Arc<dyn Clock>),
    proofs: Arc<dyn VisitorAuthenticator>,
    pack_services: PackServices,
) -> Result<VisitorServices> {
    let packs = packs::load_registry()?;
    let mut book = packs.book.clone();
    munshi_web::visitor::add_phrases(&mut book).map_err(|error| CommandFailure::failed(error.to_string()))?;
    onboarding::add_phrases(&mut book).map_err(|error| CommandFailure::failed(error.to_string()))?;
    let book = Arc::new(book);
    let few = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(VisitorServices {
        book: book.clone(),
        tools: installation::tools()?,
        proofs,
        starting: Some(Arc::new(InstallationOnboarding::new(config, (db, clock), &packs, book)?)),
        challenge: ChallengeSettings {
            after: few(config.web.challenge_after),
            bits: few(config.web.challenge_bits),
        },
        proxies: config.web.proxies.clone(),
        packs,
        pack_services,
    })
}

/// Keys of one-time codes, made of each tenant's own.
struct FromVault {
    vault: Vault,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl CodeKeySource for FromVault {
    async fn load_key(&self, tenant: TenantId) -> munshi_safety::Result<CodeKey> {
        self.vault.code_key(tenant, self.clock.now()).await
    }
}
