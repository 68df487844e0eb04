//! Which models a call may go to, in which order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chat::{ChatRequest, ModelMessagePart, ReplyFormat};
use crate::error::ModelError;
use crate::target::ModelTarget;

macro_rules! uses {
    ($($(#[$doc:meta])* $name:ident = $word:literal, else $else:expr;)+) => {
        /// What a model is wanted for: a class, a purpose, or a capability. One that has no models of its own
        /// falls back to another.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Capability { $($(#[$doc])* $name,)+ }

        impl Capability {
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// Where to look when the route names no model for this one.
            pub const fn fallback(self) -> Option<Self> {
                match self { $(Self::$name => $else,)+ }
            }
        }
    };
}

uses! {
    Default = "default", else None;
    Cheap = "cheap", else Some(Self::Default);
    Multilingual = "multilingual", else Some(Self::Default);
    Voice = "voice", else Some(Self::Cheap);
    Classifier = "classifier", else Some(Self::Cheap);
    Planner = "planner", else Some(Self::Default);
    Summariser = "summariser", else Some(Self::Cheap);
    Verdict = "verdict", else Some(Self::Cheap);
    ChatTools = "chat_tools", else Some(Self::Default);
    ChatLight = "chat_light", else Some(Self::Cheap);
    JsonStrict = "json_strict", else Some(Self::Default);
    /// One model, the same for all texts that are to be compared.
    Embeddings = "embeddings", else None;
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Capability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|known| known.as_str() == text).copied();
        found.ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|known| known.as_str()).collect();
            format!("unknown model use `{text}`: use one of {}", known.join(", "))
        })
    }
}

/// How the class of model for a turn is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutingStrategy {
    /// By what is known already: the channel, the language, the tools. Costs nothing.
    #[default]
    Rule,
    /// A small model reads the message first.
    Classifier,
    /// The rule, and the small model only where a message leaves it open.
    Hybrid,
}

/// A tenant's or an agent's choice of models, passed in with each call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRoute {
    /// Target names by use, the first choice first.
    pub targets: BTreeMap<Capability, Vec<String>>,
    /// The plan's models; none permits all.
    pub permitted: Option<BTreeSet<String>>,
    /// Where data may go; none permits everywhere. The machine itself is always permitted.
    pub residency: Option<BTreeSet<String>>,
    /// Who may see the data, by a target's name or its provider's: each list has to name it. The machine itself always may.
    pub providers: Vec<BTreeSet<String>>,
    /// Whether pictures and documents go only to models that see names: what they show can't be hidden.
    pub hides_media: bool,
    pub strategy: RoutingStrategy,
    /// Words that ask for more than a quick answer; the hybrid strategy looks for them.
    pub escalation_words: Vec<String>,
    /// The model of this machine answers first where it is at least this sure, in thousandths; none asks it never.
    pub sure_above: Option<u16>,
    /// It also answers first what it can by templates: by tools that need no model, and the phrases that tell their results.
    pub templates: bool,
}

impl ModelRoute {
    /// The targets for a call, in order: named by the route, permitted, and able to do what the request asks.
    pub fn candidates(
        &self,
        wanted: Capability,
        request: &ChatRequest,
        known: &[Arc<ModelTarget>],
    ) -> Result<Vec<Arc<ModelTarget>>, ModelError> {
        let mut permitted: Vec<&Arc<ModelTarget>> = Vec::new();
        let mut is_configured = false;
        let mut next = Some(wanted);
        // A use none of whose models may be asked goes by those it falls back to.
        while let (Some(capability), true) = (next, permitted.is_empty()) {
            let names = self.targets.get(&capability).into_iter().flatten();
            let named: Vec<&Arc<ModelTarget>> =
                names.filter_map(|name| known.iter().find(|target| target.name == *name)).collect();
            is_configured |= !named.is_empty();
            permitted = named.into_iter().filter(|target| self.permits(target)).collect();
            next = capability.fallback();
        }
        if !is_configured {
            return Err(ModelError::NoTarget(format!("no model is configured for {wanted}")));
        }
        if permitted.is_empty() {
            return Err(ModelError::NoTarget(format!(
                "the plan or the data residency permits no model for {wanted}"
            )));
        }
        let able: Vec<Arc<ModelTarget>> =
            permitted.into_iter().filter(|target| self.supports_request(target, request)).cloned().collect();
        if able.is_empty() {
            return Err(ModelError::NoTarget(format!(
                "no model for {wanted} supports the content of the request"
            )));
        }
        Ok(able)
    }

    /// The one target for vectors: the first that is named, if it is permitted; without any, this machine's own.
    pub fn embedder(&self, known: &[Arc<ModelTarget>]) -> Result<Arc<ModelTarget>, ModelError> {
        let Some(name) = self.names(Capability::Embeddings).first() else {
            return Ok(Arc::new(ModelTarget::offline()));
        };
        let target = known.iter().find(|target| target.name == *name);
        let target = target.ok_or_else(|| ModelError::NoTarget(format!("there is no model `{name}`")))?;
        if !self.permits(target) {
            return Err(ModelError::NoTarget(format!(
                "the plan or the data residency does not permit `{name}`"
            )));
        }
        Ok(target.clone())
    }

    fn names(&self, wanted: Capability) -> &[String] {
        let mut next = Some(wanted);
        while let Some(purpose) = next {
            if let Some(names) = self.targets.get(&purpose).filter(|names| !names.is_empty()) {
                return names;
            }
            next = purpose.fallback();
        }
        &[]
    }

    /// Whether a target that no use names may answer this too.
    pub(crate) fn admits(&self, target: &ModelTarget, request: &ChatRequest) -> bool {
        self.permits(target) && self.supports_request(target, request)
    }

    /// Whether a target may see the data at all.
    pub fn permits(&self, target: &ModelTarget) -> bool {
        let plan = self.permitted.as_ref().is_none_or(|names| names.contains(&target.name));
        let place = self.residency.as_ref().is_none_or(|places| places.contains(&target.residency));
        let is_listed = |names: &BTreeSet<String>| {
            names.contains(&target.name)
                || (!target.price_provider.is_empty() && names.contains(&target.price_provider))
        };
        let provider = self.providers.iter().all(is_listed);
        plan && ((place && provider) || target.is_local())
    }

    fn supports_request(&self, target: &ModelTarget, request: &ChatRequest) -> bool {
        let can = &target.capabilities;
        let may_see = !self.hides_media || target.may_see_names();
        let parts = || request.messages.iter().flat_map(|message| &message.parts);
        (request.tools.is_empty() || can.tools)
            && ((can.images && may_see) || !parts().any(|part| matches!(part, ModelMessagePart::Image(_))))
            && ((can.documents && may_see)
                || !parts().any(|part| matches!(part, ModelMessagePart::Document(_))))
            && (request.output == ReplyFormat::Text || can.json_schema || can.tools)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::WireFormat;

    fn target(name: &str, residency: &str) -> Arc<ModelTarget> {
        Arc::new(ModelTarget {
            name: name.to_owned(),
            wire: WireFormat::OpenAi,
            residency: residency.to_owned(),
            ..ModelTarget::offline()
        })
    }

    fn names(
        route: &ModelRoute,
        wanted: Capability,
        known: &[Arc<ModelTarget>],
    ) -> Result<Vec<String>, ModelError> {
        let found = route.candidates(wanted, &ChatRequest::default(), known)?;
        Ok(found.into_iter().map(|target| target.name.clone()).collect())
    }

    fn route(pairs: &[(Capability, &[&str])]) -> ModelRoute {
        let targets =
            pairs.iter().map(|(key, names)| (*key, names.iter().map(|name| (*name).to_owned()).collect()));
        ModelRoute { targets: targets.collect(), ..ModelRoute::default() }
    }

    #[test]
    fn a_use_without_models_of_its_own_falls_back() {
        let known = [target("a", "us"), target("b", "in"), target("c", "us"), target("d", "us")];
        let route = route(&[(Capability::Default, &["a", "b", "c", "d"]), (Capability::Cheap, &["c"])]);
        assert_eq!(names(&route, Capability::Planner, &known).unwrap(), ["a", "b", "c", "d"]);
        assert_eq!(names(&route, Capability::Summariser, &known).unwrap(), ["c"]);
        assert_eq!(names(&route, Capability::Voice, &known).unwrap(), ["c"]);
    }

    #[test]
    fn only_what_the_plan_and_the_place_permit() {
        let known = [target("a", "us"), target("b", "in"), Arc::new(ModelTarget::offline())];
        let mut route = route(&[(Capability::Default, &["a", "b", "offline"])]);
        route.residency = Some(BTreeSet::from(["in".to_owned()]));
        assert_eq!(names(&route, Capability::Default, &known).unwrap(), ["b", "offline"]);
        route.permitted = Some(BTreeSet::from(["a".to_owned()]));
        let refused = names(&route, Capability::Default, &known).unwrap_err().to_string();
        assert!(refused.contains("the plan or the data residency permits no model"), "{refused}");
    }

    #[test]
    fn only_providers_that_are_listed() {
        let paid = |name: &str, provider: &str| {
            Arc::new(ModelTarget { price_provider: provider.to_owned(), ..(*target(name, "us")).clone() })
        };
        let known = [
            paid("big", "openai"),
            paid("other", ""),
            paid("small", "groq"),
            Arc::new(ModelTarget::offline()),
        ];
        let mut route = route(&[(Capability::Default, &["big", "other", "small", "offline"])]);
        for (listed, wanted) in [
            (&["openai"] as &[&str], &["big", "offline"] as &[&str]),
            (&["small", "other"], &["other", "small", "offline"]),
            (&[], &["offline"]),
            // A server of one's own speaks that wire too, and is not that provider.
            (&["", "google"], &["offline"]),
        ] {
            route.providers = vec![listed.iter().map(|name| (*name).to_owned()).collect()];
            assert_eq!(names(&route, Capability::Default, &known).unwrap(), wanted, "{listed:?}");
        }
        // One list names the provider and another a model of it: both permit that model.
        let set = |name: &str| BTreeSet::from([name.to_owned()]);
        route.providers = vec![set("openai"), set("big")];
        assert_eq!(names(&route, Capability::Default, &known).unwrap(), ["big", "offline"]);
        route.providers.push(set("groq"));
        assert_eq!(names(&route, Capability::Default, &known).unwrap(), ["offline"]);
        route.targets.insert(Capability::Embeddings, vec!["big".to_owned()]);
        assert!(route.embedder(&known).is_err());
    }

    #[test]
    fn every_use_reads_back() {
        for known in Capability::ALL {
            assert_eq!(known.as_str().parse::<Capability>().unwrap(), *known);
        }
        assert!("fastest".parse::<Capability>().is_err());
    }
}
