//! Which models may see a tenant's data.

use std::collections::BTreeSet;

use munshi_llm::gateway::ModelRoute;
use serde::{Deserialize, Serialize};

/// What a tenant permits, within what the installation and the agent permit. What is not said is not narrowed; an empty
/// list permits the model of this machine alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataResidency {
    /// Models by their names, or all of a provider by its name.
    pub providers: Option<Vec<String>>,
    /// Where data may go: the `residency` of models.
    pub places: Option<Vec<String>>,
    /// Whether pictures and documents may go to models elsewhere, which get texts without names.
    pub pictures: Option<PictureSharing>,
}

/// What a picture shows can't be hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureSharing {
    /// Only to models that see names: this machine's own, and servers that the operator trusts with them.
    #[default]
    Refuse,
    /// To every model that may see the tenant's data.
    Allow,
}

impl DataResidency {
    pub(super) fn holds_nul(&self) -> bool {
        let words = self.providers.iter().chain(&self.places).flatten();
        words.into_iter().any(|word| word.contains('\0'))
    }

    /// The route without what the tenant does not permit. Nothing that was closed is opened.
    pub fn restrict(&self, mut route: ModelRoute) -> ModelRoute {
        // A model within a provider is permitted by a list of either, so lists are not cut with each other.
        route.providers.extend(self.providers.iter().map(|own| own.iter().cloned().collect()));
        narrow(&mut route.residency, self.places.as_deref());
        route.hides_media |= self.pictures.unwrap_or_default() == PictureSharing::Refuse;
        route
    }
}

fn narrow(permitted: &mut Option<BTreeSet<String>>, own: Option<&[String]>) {
    let Some(own) = own else { return };
    let own: BTreeSet<String> = own.iter().cloned().collect();
    *permitted = Some(match permitted.take() {
        Some(known) => own.intersection(&known).cloned().collect(),
        None => own,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_wins_and_nothing_is_opened() {
        let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
        let open = ModelRoute { residency: Some(set(&["in", "eu"])), ..ModelRoute::default() };
        let plain = DataResidency::default().restrict(open.clone());
        assert_eq!(
            plain,
            ModelRoute { hides_media: true, ..open.clone() },
            "pictures stay unless they are let go"
        );
        let allowed = DataResidency { pictures: Some(PictureSharing::Allow), ..DataResidency::default() };
        assert_eq!(allowed.restrict(open.clone()), open);
        assert!(allowed.restrict(plain).hides_media, "what was closed is not opened");
        let said = DataResidency {
            providers: Some(vec!["anthropic".to_owned()]),
            places: Some(vec!["in".to_owned(), "us".to_owned()]),
            ..DataResidency::default()
        };
        let narrowed = said.restrict(open);
        assert_eq!(narrowed.residency, Some(set(&["in"])));
        assert_eq!(narrowed.providers, [set(&["anthropic"])]);
        let none =
            DataResidency { providers: Some(Vec::new()), ..DataResidency::default() }.restrict(narrowed);
        assert_eq!(none.providers, [set(&["anthropic"]), BTreeSet::new()]);
    }
}
