//! What the start page does for somebody who has just begun.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_config::Config;
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_lang::{Locale, PhraseError, Phrasebook, PlaceholderValue, phrase_files};
use munshi_llm::gateway::{
    CallBilling, CallSubject, Capability, GatewayParts, InMemoryCallLog, ModelCall, ModelRoute,
    UnlimitedBudget,
};
use munshi_llm::presets::find_preset;
use munshi_llm::pricing::PriceBook;
use munshi_llm::target::ProviderKey;
use munshi_llm::{ChatMessage, ChatRequest, Gateway, HttpProvider, ModelError, ModelTarget, Transport};
use munshi_operations::models::trial::{self, ModelTrialResult};
use munshi_pack::{PackRegistry, TenantTemplate};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PlatformTx, Tx};
use munshi_tiers::{
    ApplyPlan, Authorship, FolderExtension, InstalledNames, VanishedTierPolicy, files, history,
};
use munshi_types::tier::{Audience, Binding, RoutingKeyKind, TierKind};
use munshi_types::{Clock, IdGenerator, SystemRandom, TenantId, TenantName, Zone};
use munshi_web::ApiError;
use munshi_web::visitor::onboarding::{
    ModelKeyTrial, ModelKeyTrialResult, OnboardingService, ReadyTenantOffer,
};
use munshi_wiring::apply_plans::apply_plans;
use munshi_wiring::failure::Result;
use munshi_wiring::{create_tenant, installation, policy, tenant_templates};

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

/// Adds what is said of the tenants that come ready and of keys that are tried.
pub(crate) fn add_phrases(book: &mut Phrasebook) -> Result<(), PhraseError> {
    book.add_files(&phrase_files!("../phrases"))
}

pub(crate) struct InstallationOnboarding {
    db: Db,
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
    /// Each with the name of the phrase that says what it is for. Who comes with a pack has it among the pack's.
    ready: Vec<(String, TenantTemplate)>,
    book: Arc<Phrasebook>,
    installed: InstalledNames,
    companions: Vec<Arc<dyn FolderExtension>>,
    has_models: bool,
}

impl InstallationOnboarding {
    pub(crate) fn new(
        config: &Config,
        (db, clock): (&Db, &Arc<dyn Clock>),
        registry: &PackRegistry,
        book: Arc<Phrasebook>,
    ) -> Result<Self> {
        let packs = registry.tenants.iter().map(|(pack, one)| (format!("{pack}-ready-{}", one.name), *one));
        let own = tenant_templates::READY.iter().map(|one| (format!("ready-{}", one.name), *one));
        Ok(Self {
            db: db.clone(),
            clock: clock.clone(),
            ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
            ready: packs.chain(own).collect(),
            book,
            installed: installation::list_installed_names(config)?,
            companions: policy::build_folder_extensions(config)?,
            has_models: config.models.iter().next().is_some(),
        })
    }

    async fn find_tenant_id(&self, tenant: &TenantName) -> Result<Option<TenantId>, ApiError> {
        let name = tenant.clone();
        let find = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name);
        let found = self.db.platform(TENANTS).read(find).await?;
        Ok(found.map(|tenant| tenant.id))
    }

    /// The folder as `munshi apply` would have it.
    async fn plan(&self, ready: TenantTemplate) -> Result<Vec<ApplyPlan>, ApiError> {
        let folder = tempfile::tempdir().map_err(ApiError::internal)?;
        let place = folder.path().join(ready.name);
        create_tenant::write(&ready, &place).map_err(ApiError::internal)?;
        let read = files::read_with_extensions(&place, None, &self.companions)?;
        Ok(munshi_tiers::plan_folders(&self.db, &read, VanishedTierPolicy::Keep, &self.installed).await?)
    }

    async fn apply(&self, plans: Vec<ApplyPlan>) -> Result<(), ApiError> {
        let by = Authorship {
            author: "start page".to_owned(),
            note: "made ready".to_owned(),
            made_at: self.clock.now(),
        };
        apply_plans(&self.db, plans, Zone::default(), by, &self.ids).await
    }

    async fn assign_owner(&self, tenant: TenantId, owner: ContactAddress) -> Result<(), ApiError> {
        let (ids, now) = (self.ids.clone(), self.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            let met = persons::find_or_add(tx, &ids, std::slice::from_ref(&owner), "", now)?;
            let person = met.person.id;
            persons::upsert(tx, &Person { role: Some(Role::Owner), ..met.person })?;
            // It is this very browser that is to be the owner's.
            persons::add_address(tx, person, &owner)
        };
        Ok(self.db.write(tenant, unit).await?)
    }

    /// Where it is talked to first: what is for everybody before what is for those who belong to it.
    async fn find_entry_point(&self, tenant: &TenantName) -> Result<Option<String>, ApiError> {
        let mut bindings: Vec<(Audience, String)> = Vec::new();
        for tier in
            history::list_tiers(&self.db, tenant).await?.iter().filter(|tier| tier.kind == TierKind::Binding)
        {
            let read = serde_json::from_value::<Binding>(tier.body.clone().into());
            let Ok(binding) = read else { continue };
            let handle = binding.keys.iter().find(|key| key.kind() == RoutingKeyKind::Handle);
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
impl OnboardingService for InstallationOnboarding {
    fn list_ready_tenants(&self, voice: Locale) -> Vec<ReadyTenantOffer> {
        let cards = self.ready.iter().filter_map(|(phrase, one)| {
            let about = self.book.render(phrase, voice, &[]).unwrap_or_else(|_| one.about.to_owned());
            Some(ReadyTenantOffer { tenant: one.name.parse().ok()?, about })
        });
        cards.collect()
    }

    fn has_ready_tenant(&self, tenant: &TenantName) -> bool {
        self.ready.iter().any(|(_, one)| one.name == tenant.as_str())
    }

    async fn create_tenant(
        &self,
        tenant: &TenantName,
        owner: &ContactAddress,
    ) -> Result<Option<String>, ApiError> {
        let Some((_, ready)) = self.ready.iter().find(|(_, one)| one.name == tenant.as_str()) else {
            return Ok(None);
        };
        if self.find_tenant_id(tenant).await?.is_some() {
            return Ok(None);
        }
        self.apply(self.plan(*ready).await?).await?;
        let Some(id) = self.find_tenant_id(tenant).await? else { return Ok(None) };
        self.assign_owner(id, owner.clone()).await?;
        self.find_entry_point(tenant).await
    }

    async fn is_owner(&self, address: &ContactAddress) -> Result<bool, ApiError> {
        for (_, ready) in &self.ready {
            let Ok(name) = ready.name.parse() else { continue };
            let Some(tenant) = self.find_tenant_id(&name).await? else { continue };
            let address = address.clone();
            let find = move |tx: &mut Tx<'_>| persons::find_by_address(tx, &address);
            let found = self.db.read(tenant, find).await?;
            if found.is_some_and(|person| person.role == Some(Role::Owner) && person.left_at.is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_models(&self) -> bool {
        self.has_models
    }

    fn providers(&self) -> Vec<(String, String)> {
        PROVIDERS.map(|(name, model)| (name.to_owned(), model.to_owned())).to_vec()
    }

    async fn try_key(&self, wish: ModelKeyTrial, voice: Locale) -> Result<ModelKeyTrialResult, ApiError> {
        let known =
            find_preset(&wish.provider).ok_or_else(|| ApiError::internal("a provider without a preset"))?;
        let target = ModelTarget { key: ProviderKey::new(&wish.key), ..known.target("tried", &wish.model) };
        let (check, fault) = self.try_target(target).await?;
        render_trial_result(&self.book, voice, &wish, &check, fault.as_ref()).map_err(ApiError::internal)
    }
}

impl InstallationOnboarding {
    /// One question, with nothing written down: whoever tries a key has no tenant yet.
    async fn try_target(
        &self,
        target: ModelTarget,
    ) -> Result<(ModelTrialResult, Option<ModelError>), ApiError> {
        let transport = Transport::new(self.clock.clone()).map_err(ApiError::internal)?;
        let gateway = Gateway::new(GatewayParts {
            targets: vec![target],
            provider: Arc::new(HttpProvider::new(transport)),
            prices: PriceBook::default(),
            clock: self.clock.clone(),
            random: Arc::new(SystemRandom),
        });
        let route = ModelRoute {
            targets: [(Capability::Default, vec!["tried".to_owned()])].into(),
            ..ModelRoute::default()
        };
        let request = ChatRequest {
            messages: vec![ChatMessage::user("Hello!")],
            max_output_tokens: 64,
            ..ChatRequest::default()
        };
        let account = CallBilling {
            tenant: TenantId::PLATFORM,
            about: CallSubject::default(),
            budget: Arc::new(UnlimitedBudget),
            tab: Arc::new(InMemoryCallLog::default()),
            prices: None,
            prompt: None,
        };
        let call = ModelCall {
            wanted: Capability::Default,
            route: Arc::new(route),
            request: request.into(),
            account,
            veil: None,
        };
        Ok(trial::ask(&gateway, call, "answer", self.clock.now()).await)
    }
}

/// What came of it, and how to keep a key that works. The key itself is never said again.
fn render_trial_result(
    book: &Phrasebook,
    voice: Locale,
    wish: &ModelKeyTrial,
    check: &ModelTrialResult,
    fault: Option<&ModelError>,
) -> std::result::Result<ModelKeyTrialResult, PhraseError> {
    let ModelKeyTrial { provider, model, .. } = wish;
    let (provider, model) = (provider.as_str(), model.as_str());
    let named = ("provider", PlaceholderValue::Text(provider));
    if let Some(fault) = fault {
        let why = check.detail.replace(&wish.key, "…");
        let message = match fault {
            ModelError::Unauthorised => book.render("start-key-refused", voice, &[named])?,
            ModelError::Unreachable(_) => book.render("start-key-unreachable", voice, &[named])?,
            _ => book.render("start-key-failed", voice, &[named, ("why", PlaceholderValue::Text(&why))])?,
        };
        let hint = book.render("start-key-hint", voice, &[])?;
        return Ok(ModelKeyTrialResult { works: false, message, hint, settings: String::new() });
    }
    // A model that thinks first may have had no room left for words: it answered all the same.
    let first = check.first_word_ms.unwrap_or(check.total_ms);
    let count = PlaceholderValue::Count(first);
    Ok(ModelKeyTrialResult {
        works: true,
        message: book.render(
            "start-key-works",
            voice,
            &[("model", PlaceholderValue::Text(model)), ("count", count)],
        )?,
        hint: book.render("start-key-keep", voice, &[])?,
        settings: format!(
            "[models.{provider}]\nprovider = \"{provider}\"\nmodel = \"{model}\"\n\n# MUNSHI__MODELS__{}__KEY=…",
            provider.to_uppercase()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::Language;

    fn book() -> Phrasebook {
        let mut book = Phrasebook::default();
        add_phrases(&mut book).unwrap();
        book
    }

    fn check(fault: Option<&ModelError>) -> ModelTrialResult {
        ModelTrialResult {
            what: "answer".to_owned(),
            is_good: false,
            detail: fault.map(ToString::to_string).unwrap_or_default(),
            first_word_ms: None,
            total_ms: 1200,
            tokens: 64,
            cost_micros: None,
        }
    }

    fn told(voice: Locale, fault: Option<&ModelError>) -> ModelKeyTrialResult {
        render_trial_result(&book(), voice, &wish(), &check(fault), fault).unwrap()
    }

    fn wish() -> ModelKeyTrial {
        ModelKeyTrial {
            provider: "openai".to_owned(),
            model: "gpt-5-mini".to_owned(),
            key: "sk-1".to_owned(),
        }
    }

    #[test]
    fn what_comes_ready_is_told_in_every_voice() {
        let book = book();
        book.check().unwrap();
        for one in tenant_templates::READY {
            let english = book.render(&format!("ready-{}", one.name), voice("en"), &[]).unwrap();
            assert!(english.starts_with(one.about), "{english}");
        }
        assert_eq!(
            book.names().filter(|name| name.starts_with("ready-")).count(),
            tenant_templates::READY.len()
        );
    }

    fn voice(code: &str) -> Locale {
        Locale::all().find(|voice| voice.code() == code).unwrap()
    }

    #[test]
    fn what_came_of_a_key_is_told_in_every_voice_and_never_the_key() {
        let rejected = ModelError::Rejected { status: 404, message: "no model for sk-1".to_owned() };
        let faults = [
            ModelError::Unauthorised,
            ModelError::Unreachable("dns".to_owned()),
            rejected,
            ModelError::Interrupted,
        ];
        for voice in Locale::all() {
            let mut seen = std::collections::BTreeSet::new();
            for fault in &faults {
                let told = told(voice, Some(fault));
                assert!(!told.works && told.message.contains("openai"), "{told:?}");
                assert!(!format!("{told:?}").contains("sk-1") && told.settings.is_empty(), "{told:?}");
                assert!(seen.insert(told.message), "each is told apart");
            }
            let told = told(voice, None);
            assert!(
                told.works && told.message.contains("gpt-5-mini") && told.message.contains("1,200"),
                "{told:?}"
            );
            assert!(told.settings.contains("[models.openai]") && !told.hint.is_empty(), "{told:?}");
        }
        let hindi = Locale::new(Language::Hindi, munshi_lang::ScriptForm::Native);
        let told = told(hindi, Some(&ModelError::Unauthorised));
        assert_eq!(told.message, "openai यह कुंजी नहीं मानता।");
    }
}
