//! The models an agent is answered by: its own choice laid over the installation's.

use std::collections::BTreeSet;

use munshi_llm::gateway::{ModelRoute, RoutingStrategy};
use munshi_types::tier::{Agent, RouteStrategy};

/// What the agent names wins, use by use. Data goes only where both the agent and the installation let it.
pub fn resolve_model_route(agent: &Agent, installation: &ModelRoute) -> ModelRoute {
    let said = &agent.models;
    let mut route = installation.clone();
    let named = said.uses.iter().filter(|(_, names)| !names.is_empty());
    route.targets.extend(named.filter_map(|(wanted, names)| Some((wanted.parse().ok()?, names.clone()))));
    if !said.residency.is_empty() {
        let own: BTreeSet<String> = said.residency.iter().cloned().collect();
        route.residency = Some(match &installation.residency {
            Some(permitted) => own.intersection(permitted).cloned().collect(),
            None => own,
        });
    }
    if let Some(strategy) = said.strategy {
        route.strategy = match strategy {
            RouteStrategy::Rule => RoutingStrategy::Rule,
            RouteStrategy::Classifier => RoutingStrategy::Classifier,
            RouteStrategy::Hybrid => RoutingStrategy::Hybrid,
        };
    }
    if !said.escalation_words.is_empty() {
        route.escalation_words.clone_from(&said.escalation_words);
    }
    route.sure_above = said.sure_above.or(route.sure_above);
    route.templates = said.templates.unwrap_or(route.templates);
    route
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_llm::gateway::Capability;
    use serde_json::json;

    #[test]
    fn the_agent_chooses_within_what_is_permitted() {
        let installation = ModelRoute {
            targets: [
                (Capability::Default, vec!["big".to_owned()]),
                (Capability::Cheap, vec!["small".to_owned()]),
            ]
            .into(),
            residency: Some(["in".to_owned(), "eu".to_owned()].into()),
            ..ModelRoute::default()
        };
        assert_eq!(resolve_model_route(&Agent::default(), &installation), installation);
        let models = json!({ "models": {
            "uses": { "default": ["other"] }, "residency": ["in", "us"], "strategy": "hybrid", "templates": true,
        } });
        let agent: Agent = serde_json::from_value(models).unwrap();
        let route = resolve_model_route(&agent, &installation);
        assert_eq!(route.targets[&Capability::Default], ["other"]);
        assert_eq!(route.targets[&Capability::Cheap], ["small"]);
        assert_eq!(route.residency, Some(["in".to_owned()].into()));
        assert_eq!((route.strategy, route.templates), (RoutingStrategy::Hybrid, true));
    }
}
