//! What the start page does for somebody who has just begun.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_config::Config;
use munshi_identity::{Address, Person, Role, persons};
use munshi_llm::gateway::{About, Account, Call, MemoryTab, Parts, Route, Unlimited, Use};
use munshi_llm::money::PriceBook;
use munshi_llm::presets::preset;
use munshi_llm::target::Key;
use munshi_llm::{ChatRequest, Gateway, Message, Target, Transport, Wires};
use munshi_pack::{House, ReadyTenant};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PlatformTx, Tx};
use munshi_tiers::{Authorship, Installed, Plan, Vanished, files, history};
use munshi_types::tier::{Audience, Binding, KeyKind, TierKind};
use munshi_types::{Clock, Ids, SystemRandom, TenantId, TenantName, Zone};
use munshi_web::ApiError;
use munshi_web::visitor::starting::{KeyToTry, Ready, Starting, Tried};

use super::trial::{self, Check};
use super::{founding, installed, policy, ready, tiers};
use crate::failure::Result;

/// Providers that take a key, each with a model that many have.
const PROVIDERS: [(&str, &str); 8] = [
    ("anthropic", "claude-sonnet-4-5"),
    ("openai", "gpt-5-mini"),
    ("gemini", "gemini-2.5-flash"),
    ("sarvam", "sarvam-m"),
    ("groq", "llama-3.3-70b-versatile"),
    ("mistral", "mistral-small-latest"),
    ("deepseek", "deepseek-chat"),
    ("openrouter", "openai/gpt-5-mini"),
];

pub(super) struct Start {
    db: Db,
    clock: Arc<dyn Clock>,
    ids: Ids,
    ready: Vec<ReadyTenant>,
    installed: Installed,
    has_models: bool,
}

impl Start {
    pub(super) fn new(config: &Config, db: &Db, clock: &Arc<dyn Clock>, house: &House) -> Result<Self> {
        let packs = house.tenants.iter().map(|(_, tenant)| *tenant);
        Ok(Self {
            db: db.clone(),
            clock: clock.clone(),
            ids: Ids::new(clock.clone(), Arc::new(SystemRandom)),
            ready: packs.chain(ready::READY.iter().copied()).collect(),
            installed: installed::installed(config)?,
            has_models: config.models.iter().next().is_some(),
        })
    }

    async fn is_there(&self, tenant: &TenantName) -> Result<Option<TenantId>, ApiError> {
        let name = tenant.clone();
        let find = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name);
        let found = self.db.platform(TENANTS).read(find).await?;
        Ok(found.map(|tenant| tenant.id))
    }

    /// The folder as `munshi apply` would have it.
    async fn plan(&self, ready: ReadyTenant) -> Result<Vec<Plan>, ApiError> {
        let folder = tempfile::tempdir().map_err(ApiError::internal)?;
        let place = folder.path().join(ready.name);
        founding::write(&ready, &place).map_err(ApiError::internal)?;
        let companions = policy::companions().map_err(|failure| ApiError::internal(failure.message))?;
        let read = files::read_with(&place, None, &companions)?;
        Ok(munshi_tiers::plan_folders(&self.db, &read, Vanished::Keep, &self.installed).await?)
    }

    async fn apply(&self, plans: Vec<Plan>) -> Result<(), ApiError> {
        let by = Authorship {
            author: "start page".to_owned(),
            note: "made ready".to_owned(),
            made_at: self.clock.now(),
        };
        let tell = tiers::tell(self.ids.clone());
        munshi_tiers::apply(&self.db, plans, Zone::default(), by, &self.ids, tell).await?;
        Ok(())
    }

    async fn own(&self, tenant: TenantId, owner: Address) -> Result<(), ApiError> {
        let (ids, now) = (self.ids.clone(), self.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            let met = persons::find_or_add(tx, &ids, &[owner], "", now)?;
            persons::put(tx, &Person { role: Some(Role::Owner), ..met.person })
        };
        Ok(self.db.write(tenant, unit).await?)
    }

    /// Where it is talked to first: what is for everybody before what is for those who belong to it.
    async fn place(&self, tenant: &TenantName) -> Result<Option<String>, ApiError> {
        let mut bindings: Vec<(Audience, String)> = Vec::new();
        for tier in
            history::tiers(&self.db, tenant).await?.iter().filter(|tier| tier.kind == TierKind::Binding)
        {
            let read = serde_json::from_value::<Binding>(tier.body.clone().into());
            let Ok(binding) = read else { continue };
            let handle = binding.keys.iter().find(|key| key.kind() == KeyKind::Handle);
            let place = handle.map_or_else(|| format!("{tenant}:{}", tier.name), |key| key.text().to_owned());
            bindings.push((binding.door, place));
        }
        bindings.sort_by_key(|(door, _)| match door {
            Audience::Distribution | Audience::Public => 0,
            Audience::Work => 1,
            Audience::Private => 2,
        });
        Ok(bindings.into_iter().next().map(|(_, place)| place))
    }
}

#[async_trait]
impl Starting for Start {
    fn ready(&self) -> Vec<Ready> {
        let named = self.ready.iter().filter_map(|one| Some((one.name.parse().ok()?, one.about.to_owned())));
        named.map(|(tenant, about)| Ready { tenant, about }).collect()
    }

    async fn open(&self, tenant: &TenantName, owner: &Address) -> Result<Option<String>, ApiError> {
        let Some(ready) = self.ready.iter().find(|one| one.name == tenant.as_str()) else { return Ok(None) };
        if self.is_there(tenant).await?.is_some() {
            return Ok(None);
        }
        self.apply(self.plan(*ready).await?).await?;
        let Some(id) = self.is_there(tenant).await? else { return Ok(None) };
        self.own(id, owner.clone()).await?;
        self.place(tenant).await
    }

    fn has_models(&self) -> bool {
        self.has_models
    }

    fn providers(&self) -> Vec<(String, String)> {
        PROVIDERS.map(|(name, model)| (name.to_owned(), model.to_owned())).to_vec()
    }

    async fn try_key(&self, wish: KeyToTry) -> Result<Tried, ApiError> {
        let known =
            preset(&wish.provider).ok_or_else(|| ApiError::internal("a provider without a preset"))?;
        let target = Target { key: Key::new(&wish.key), ..known.target("tried", &wish.model) };
        let check = self.ask(target).await?;
        Ok(told(&wish, &check))
    }
}

impl Start {
    /// One question, with nothing written down: whoever tries a key has no tenant yet.
    async fn ask(&self, target: Target) -> Result<Check, ApiError> {
        let transport = Transport::new(self.clock.clone()).map_err(ApiError::internal)?;
        let gateway = Gateway::new(Parts {
            targets: vec![target],
            provider: Arc::new(Wires::new(transport)),
            prices: PriceBook::default(),
            clock: self.clock.clone(),
            random: Arc::new(SystemRandom),
        });
        let route = Route { targets: [(Use::Default, vec!["tried".to_owned()])].into(), ..Route::default() };
        let request = ChatRequest {
            messages: vec![Message::user("Hello!")],
            max_output_tokens: 64,
            ..ChatRequest::default()
        };
        let account = Account {
            tenant: TenantId::PLATFORM,
            about: About::default(),
            budget: Arc::new(Unlimited),
            tab: Arc::new(MemoryTab::default()),
            prices: None,
        };
        let call = Call {
            wanted: Use::Default,
            route: Arc::new(route),
            request: request.into(),
            account,
            veil: None,
        };
        Ok(trial::ask(&gateway, call, "answer", self.clock.now()).await)
    }
}

/// What came of it, and how to keep a key that works. The key itself is never said again.
fn told(wish: &KeyToTry, check: &Check) -> Tried {
    let KeyToTry { provider, model, .. } = wish;
    if !check.is_good {
        let detail = check.detail.replace(&wish.key, "…");
        let message = match detail.trim() {
            "" => format!("{provider} answered with nothing."),
            detail => format!("It did not work: {detail}."),
        };
        let hint = "Look at the key and the model's name with your provider, then try again.".to_owned();
        return Tried { works: false, message: message.replace("..", "."), hint };
    }
    let first = check.first_word_ms.unwrap_or(check.total_ms);
    Tried {
        works: true,
        message: format!("It works: {model} answered after {first} ms."),
        hint: format!(
            "# To keep it, put this into munshi.toml and the key into its variable,\n# then start Munshi again:\n\n[models.{provider}]\nprovider = \"{provider}\"\nmodel = \"{model}\"\n\n# MUNSHI__MODELS__{}__KEY=…",
            provider.to_uppercase()
        ),
    }
}
