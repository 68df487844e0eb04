//! Which class of model a turn gets, and when this machine's own goes first.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_llm::gateway::{Capability, ModelRoute, RoutingHints, RoutingStrategy};
use munshi_llm::{
    AnswerConfidence, ChatMessage, ChatRequest, ChatStream, Embedding, ModelError, ModelTarget, Provider,
};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_types::Language;

use crate::gateway::scene::{Scene, down};

fn route(strategy: RoutingStrategy) -> Arc<ModelRoute> {
    let classes = [
        (Capability::Default, "first"),
        (Capability::Cheap, "second"),
        (Capability::Multilingual, "third"),
        (Capability::Voice, "fourth"),
    ];
    let targets = classes.into_iter().map(|(class, name)| (class, vec![name.to_owned()])).collect();
    Arc::new(ModelRoute {
        targets,
        strategy,
        escalation_words: vec!["manager".to_owned()],
        ..ModelRoute::default()
    })
}

async fn chosen(scene: &Scene, hints: RoutingHints) -> Capability {
    scene.gateway.choose_capability(&scene.call(), hints).await
}

const LONG: &str = "please tell me everything about the orders of the last month";

#[tokio::test(start_paused = true)]
async fn the_rule_looks_at_channel_language_and_tools_and_asks_nobody() {
    let mut scene = Scene::new([]);
    scene.route = route(RoutingStrategy::Rule);
    let tamil = RoutingHints { language: Some(Language::Tamil), ..RoutingHints::default() };
    assert_eq!(chosen(&scene, RoutingHints::default()).await, Capability::Default);
    assert_eq!(chosen(&scene, tamil).await, Capability::Multilingual);
    assert_eq!(chosen(&scene, RoutingHints { is_voice: true, ..tamil }).await, Capability::Voice);
    let tool = munshi_types::tool::ToolSpec::read_only("look".parse().unwrap(), "Looks.", "x.read");
    scene.request.tools.push(Arc::new(tool));
    assert_eq!(chosen(&scene, RoutingHints::default()).await, Capability::ChatTools);
    assert!(scene.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_tools_is_light_where_models_are_named_for_that() {
    let mut scene = Scene::new([ScriptedTurn::text("Hello.")]);
    let mut light = ModelRoute::clone(&route(RoutingStrategy::Rule));
    light.targets.insert(Capability::ChatLight, vec!["fourth".to_owned()]);
    // None of them may see the data: those that it falls back to answer.
    light.providers = vec![["first".to_owned(), "second".to_owned()].into()];
    scene.route = Arc::new(light);
    assert_eq!(chosen(&scene, RoutingHints::default()).await, Capability::ChatLight);
    let call = munshi_llm::gateway::ModelCall { wanted: Capability::ChatLight, ..scene.call() };
    scene.gateway.complete(call).await.unwrap();
    assert_eq!(scene.asked(), ["second"]);
    let tool = munshi_types::tool::ToolSpec::read_only("look".parse().unwrap(), "Looks.", "x.read");
    scene.request.tools.push(Arc::new(tool));
    assert_eq!(chosen(&scene, RoutingHints::default()).await, Capability::ChatTools);
}

#[tokio::test(start_paused = true)]
async fn a_small_model_reads_the_message_first_and_the_rule_stands_in_for_it() {
    let answer = || ScriptedTurn::text("{\"class\": \"cheap\"}");
    let failing = [ScriptedTurn::fault(down()), ScriptedTurn::fault(down())];
    let mut scene = Scene::new(
        [answer()].into_iter().chain(failing).chain([ScriptedTurn::text("{\"class\": \"voice\"}")]),
    );
    scene.route = route(RoutingStrategy::Classifier);
    scene.request.messages = vec![ChatMessage::user(LONG)];
    assert_eq!(chosen(&scene, RoutingHints::default()).await, Capability::Cheap);
    let asked = scene.model.requests().remove(0);
    assert_eq!((asked.target.as_str(), asked.request.messages[0].text().as_str()), ("second", LONG));
    assert_eq!(chosen(&scene, RoutingHints::default()).await, Capability::Default, "it failed");
    assert_eq!(
        chosen(&scene, RoutingHints::default()).await,
        Capability::Default,
        "it said what it may not, and again"
    );
    let records = scene.records();
    assert!(records.iter().all(|record| record.purpose == Capability::Classifier) && records.len() >= 4);
}

#[tokio::test(start_paused = true)]
async fn hybrid_asks_only_where_the_message_leaves_it_open() {
    let mut scene = Scene::new([
        ScriptedTurn::text("{\"class\": \"cheap\"}"),
        ScriptedTurn::text("{\"class\": \"default\"}"),
    ]);
    scene.route = route(RoutingStrategy::Hybrid);
    scene.request.messages = vec![ChatMessage::user(LONG)];
    chosen(&scene, RoutingHints::default()).await;
    assert!(scene.asked().is_empty(), "a long message is clear");
    scene.request.messages = vec![ChatMessage::user("ok thanks")];
    assert_eq!(chosen(&scene, RoutingHints::default()).await, Capability::Cheap);
    scene.request.messages = vec![ChatMessage::user(format!("{LONG}, or give me your Manager"))];
    assert_eq!(chosen(&scene, RoutingHints::default()).await, Capability::Default);
    assert_eq!(scene.asked().len(), 2);
}

/// Sure of greetings, and of balances by a template.
struct Knowing(Arc<ScriptedModel>);

#[async_trait]
impl Provider for Knowing {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        self.0.stream(target, request).await
    }

    fn confidence(&self, target: &ModelTarget, request: &ChatRequest) -> Option<AnswerConfidence> {
        let says = |word: &str| request.messages.last().is_some_and(|last| last.text().contains(word));
        let is_template = says("balance");
        let thousandths = if says("hello") || is_template { 990 } else { 300 };
        target.is_local().then_some(AnswerConfidence { thousandths, is_template })
    }

    async fn embed(&self, target: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError> {
        self.0.embed(target, texts).await
    }
}

#[tokio::test(start_paused = true)]
async fn what_this_machine_is_sure_of_costs_no_model_call() {
    let model = Arc::new(ScriptedModel::new([
        ScriptedTurn::text("hello"),
        ScriptedTurn::text("well"),
        ScriptedTurn::text("hello"),
    ]));
    let mut scene = Scene::of(model.clone(), Arc::new(Knowing(model)));
    scene.route = Arc::new(ModelRoute { sure_above: Some(950), ..crate::gateway::scene::route(&["first"]) });
    scene.request.messages = vec![ChatMessage::user("hello")];
    scene.complete().await.unwrap();
    scene.request.messages = vec![ChatMessage::user("what shall I sell?")];
    scene.complete().await.unwrap();
    scene.route = crate::gateway::scene::route(&["first"]).into();
    scene.request.messages = vec![ChatMessage::user("hello")];
    scene.complete().await.unwrap();
    assert_eq!(scene.asked(), ["offline", "first", "first"], "only where the route says so");

    let model = Arc::new(ScriptedModel::new([ScriptedTurn::text("hello"), ScriptedTurn::text("a bill")]));
    let mut scene = Scene::of(model.clone(), Arc::new(Knowing(model)));
    let permitted = Some(["first".to_owned()].into());
    scene.route =
        Arc::new(ModelRoute { sure_above: Some(950), permitted, ..crate::gateway::scene::route(&["first"]) });
    scene.request.messages = vec![ChatMessage::user("hello")];
    scene.complete().await.unwrap();
    assert_eq!(scene.asked(), ["first"], "the plan does not permit it");
}

#[tokio::test(start_paused = true)]
async fn templates_go_first_where_the_route_has_them_and_nothing_else_does() {
    let said = ["hello", "owes 500", "owes 500", "owes 500", "{\"class\": \"cheap\"}"];
    let model = Arc::new(ScriptedModel::new(said.map(ScriptedTurn::text)));
    let mut scene = Scene::of(model.clone(), Arc::new(Knowing(model)));
    let by_templates = ModelRoute { templates: true, ..crate::gateway::scene::route(&["first"]) };
    scene.route = Arc::new(by_templates.clone());
    let look = munshi_types::tool::ToolSpec::read_only("look".parse().unwrap(), "Looks.", "x.read");
    scene.request.tools.push(Arc::new(munshi_types::tool::ToolSpec { needs_no_model: true, ..look }));
    scene.request.messages = vec![ChatMessage::user("hello")];
    scene.complete().await.unwrap();
    scene.request.messages = vec![ChatMessage::user("Asha's balance")];
    scene.complete().await.unwrap();
    assert_eq!(scene.asked(), ["first", "offline"], "a greeting is no template");
    let strategy = RoutingStrategy::Classifier;
    scene.route = Arc::new(ModelRoute { strategy, ..by_templates.clone() });
    chosen(&scene, RoutingHints::default()).await;
    assert_eq!(scene.asked().len(), 2, "no small model is asked about what needs none");
    scene.route = crate::gateway::scene::route(&["first"]).into();
    scene.complete().await.unwrap();
    let permitted = Some(["first".to_owned()].into());
    scene.route = Arc::new(ModelRoute { permitted, ..by_templates });
    scene.complete().await.unwrap();
    assert_eq!(
        scene.asked()[2..],
        ["first", "first"],
        "not without templates, nor where the plan forbids it"
    );
}
